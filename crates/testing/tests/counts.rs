//! The counter counts what it claims to: Rust, C, libraries that are loaded later; and nothing else.

use std::ffi::{c_char, c_int, c_void};
use std::hint::black_box;

use fly_testing::allocations;

unsafe extern "C" {
    fn strdup(text: *const c_char) -> *mut c_char;
    fn free(memory: *mut c_void);
}

#[test]
fn rust_is_counted() {
    assert_eq!(allocations(|| {}), 0);
    assert_eq!(allocations(|| drop(black_box(vec![1_u8, 2, 3]))), 1);
    assert_eq!(
        allocations(|| drop(black_box(vec![0_u64; 100]))),
        1,
        "calloc"
    );
    let mut grown = Vec::with_capacity(1);
    assert_eq!(allocations(|| grown.extend([1, 2])), 1, "realloc");
    #[repr(align(4096))]
    struct Page;
    assert_eq!(
        allocations(|| drop(black_box(Box::new([Page; 0])))),
        0,
        "no size, no allocation"
    );
    #[repr(align(128))]
    struct Line(#[expect(dead_code)] [u8; 128]);
    assert_eq!(
        allocations(|| drop(black_box(Box::new(Line([0; 128]))))),
        1,
        "posix_memalign"
    );
}

#[test]
fn c_is_counted() {
    // libc itself calls malloc for this one; the compiler knows that and would leave both out.
    let call = || unsafe { free(black_box(strdup(c"text".as_ptr())).cast()) };
    assert_eq!(allocations(call), 1);
}

#[test]
fn a_library_that_is_loaded_later_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (
        folder.path().join("library.c"),
        folder.path().join("library.so"),
    );
    std::fs::write(
        &source,
        "#include <stdlib.h>\n\
         int hold(int count) { for (int i = 0; i < count; i++) { void *p = malloc(8 + i); if (!p) return i; \
         *(volatile char *)p = 1; free(p); } return count; }",
    )
    .unwrap();
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-O0", "-o"])
        .args([&library, &source])
        .status();
    assert!(built.unwrap().success());
    let library = unsafe { libloading::Library::new(&library) }.unwrap();
    let hold = unsafe { library.get::<extern "C" fn(c_int) -> c_int>(b"hold") }.unwrap();
    assert_eq!(allocations(|| assert_eq!(hold(7), 7)), 7);
}

#[test]
fn other_threads_do_not_count() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (done, finished) = std::sync::mpsc::channel::<()>();
    let other = std::thread::spawn(move || {
        wait.recv().unwrap();
        let counted = allocations(|| drop(black_box(vec![1; 100])));
        done.send(()).unwrap();
        counted
    });
    // Sending and receiving once without counting, so that the channels have what they need.
    let here = allocations(|| {
        for _ in 0..3 {
            black_box(());
        }
    });
    go.send(()).unwrap();
    finished.recv().unwrap();
    assert_eq!(here, 0);
    assert_eq!(other.join().unwrap(), 1);
}
