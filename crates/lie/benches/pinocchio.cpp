// Pinocchio on the inputs of lie.rs, in its output format; built and run by `cargo xtask bench lie`.
#include <pinocchio/spatial.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace pin = pinocchio;
using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

constexpr int BATCH = 64, PASSES = 32, SAMPLES = 400;

struct Random {
  std::uint64_t state;
  double next() {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return double(state >> 11) / double(1ULL << 52) - 1.0;
  }
  Vector3d vector() {
    const double x = next(), y = next(), z = next();
    return Vector3d(x, y, z);
  }
  Vector3d rotation() {
    const Vector3d direction = vector().normalized();
    return direction * (3.0 * next());
  }
};

// Goes through memory, as the one of Rust does.
template <class X>
X black_box(X value) {
  asm volatile("" : : "r"(&value) : "memory");
  return value;
}

std::string filter;

template <class X, class F>
void measure(const char *model, const char *algo, const std::vector<X> &inputs, F f) {
  if ((std::string("pinocchio ") + model + " " + algo).find(filter) == std::string::npos) return;
  using Y = decltype(f(inputs[0]));
  std::vector<Y, Eigen::aligned_allocator<Y>> outputs(inputs.size());
  std::vector<double> times;
  for (int sample = 0; sample < SAMPLES + 20; ++sample) {
    const auto start = std::chrono::steady_clock::now();
    for (int pass = 0; pass < PASSES; ++pass) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        outputs[i] = f(*black_box(&inputs[i]));
      }
      asm volatile("" : : "r"(outputs.data()) : "memory");
    }
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    if (sample >= 20) times.push_back(elapsed.count() / (BATCH * PASSES));
  }
  std::sort(times.begin(), times.end());
  std::printf("TIME,pinocchio,%s,%s,%.2f,%.2f,%.2f\n", model, algo, times[(SAMPLES - 1) * 50 / 100], times[0],
              times[(SAMPLES - 1) * 90 / 100]);
}

int main(int count, char **arguments) {
  for (int i = count - 1; i > 0; --i)
    if (arguments[i][0] != '-') filter = arguments[i];
  Random random{7};
  std::vector<Vector3d> ws;
  for (int i = 0; i < BATCH; ++i) ws.push_back(random.rotation());
  std::vector<pin::Motion> xs;
  for (int i = 0; i < BATCH; ++i) {
    const Vector3d v = random.vector();
    xs.emplace_back(v, random.rotation());
  }
  std::vector<Quaterniond> qs;
  std::vector<Matrix3d> Rs;
  std::vector<pin::SE3> Gs;
  for (const auto &w : ws) {
    Quaterniond q;
    pin::quaternion::exp3(w, q);
    qs.push_back(q);
    Rs.push_back(pin::exp3(w));
  }
  for (const auto &x : xs) Gs.push_back(pin::exp6(x));
  std::vector<std::pair<Quaterniond, Quaterniond>> qqs;
  std::vector<std::pair<Quaterniond, Vector3d>> qps;
  std::vector<std::pair<Matrix3d, Matrix3d>> RRs;
  std::vector<std::pair<pin::SE3, pin::SE3>> GGs;
  std::vector<std::pair<pin::SE3, Vector3d>> Gps;
  for (int i = 0; i < BATCH; ++i) {
    const int other = BATCH - 1 - i;
    qqs.emplace_back(qs[i], qs[other]);
    qps.emplace_back(qs[i], ws[other]);
    RRs.emplace_back(Rs[i], Rs[other]);
    GGs.emplace_back(Gs[i], Gs[other]);
    Gps.emplace_back(Gs[i], ws[other]);
  }

  using Matrix6d = Eigen::Matrix<double, 6, 6>;
  measure("SO3", "exp_quaternion", ws, [](const Vector3d &w) {
    Quaterniond q;
    pin::quaternion::exp3(w, q);
    return q;
  });
  measure("SO3", "log_quaternion", qs, [](const Quaterniond &q) { return Vector3d(pin::quaternion::log3(q)); });
  measure("SO3", "exp", ws, [](const Vector3d &w) { return Matrix3d(pin::exp3(w)); });
  measure("SO3", "log", Rs, [](const Matrix3d &R) { return Vector3d(pin::log3(R)); });
  measure("SO3", "compose_quaternion", qqs,
          [](const std::pair<Quaterniond, Quaterniond> &p) { return Quaterniond(p.first * p.second); });
  measure("SO3", "compose", RRs, [](const std::pair<Matrix3d, Matrix3d> &p) { return Matrix3d(p.first * p.second); });
  measure("SO3", "act_quaternion", qps,
          [](const std::pair<Quaterniond, Vector3d> &p) { return Vector3d(p.first * p.second); });
  measure("SO3", "Jr", ws, [](const Vector3d &w) {
    Matrix3d J;
    pin::Jexp3(w, J);
    return J;
  });
  measure("SO3", "Jr_inverse", Rs, [](const Matrix3d &R) {
    Matrix3d J;
    pin::Jlog3(R, J);
    return J;
  });
  measure("SE3", "exp", xs, [](const pin::Motion &x) { return pin::exp6(x); });
  measure("SE3", "log", Gs, [](const pin::SE3 &G) { return pin::Motion(pin::log6(G)); });
  measure("SE3", "compose", GGs, [](const std::pair<pin::SE3, pin::SE3> &p) { return pin::SE3(p.first * p.second); });
  measure("SE3", "inverse", Gs, [](const pin::SE3 &G) { return pin::SE3(G.inverse()); });
  measure("SE3", "act", Gps, [](const std::pair<pin::SE3, Vector3d> &p) { return Vector3d(p.first.act(p.second)); });
  measure("SE3", "Ad", Gs, [](const pin::SE3 &G) { return Matrix6d(G.toActionMatrix()); });
  measure("SE3", "Jr", xs, [](const pin::Motion &x) {
    Matrix6d J;
    pin::Jexp6(x, J);
    return J;
  });
  measure("SE3", "Jr_inverse", Gs, [](const pin::SE3 &G) {
    Matrix6d J;
    pin::Jlog6(G, J);
    return J;
  });
  measure("SE3", "difference", GGs, [](const std::pair<pin::SE3, pin::SE3> &p) {
    return pin::Motion(pin::log6(p.first.actInv(p.second)));
  });
}
