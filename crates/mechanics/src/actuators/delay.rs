//! Transport delays of commands.

/// Commands that act a transport delay after they are sent, with a separate delay each.
///
/// ```
/// use fly_mechanics::actuators::CommandDelay;
///
/// let mut delay = CommandDelay::new(vec![0.03]);
/// delay.start(&[1.0]); // as if it had been given for long
/// delay.send(&[2.0]);
/// delay.advance(0.02);
/// delay.send(&[4.0]);
///
/// let mut acting = [0.0];
/// let changes_in = delay.in_effect(0.0, &mut acting); // now
/// assert!(acting == [1.0] && (changes_in - 0.01).abs() < 1e-12);
/// let changes_in = delay.in_effect(0.01, &mut acting); // 0.01 s later
/// assert!(acting == [2.0] && (changes_in - 0.02).abs() < 1e-12);
/// assert_eq!(delay.in_effect(0.03, &mut acting), f64::INFINITY);
/// assert_eq!(acting, [4.0]);
/// ```
///
/// Only the construction allocates. At most [`MOST`](Self::MOST) commands in transit are stored; beyond that the newest replaces the one before it.
#[derive(Clone, Debug)]
pub struct CommandDelay {
    /// Delay of each command, s.
    delays: Vec<f64>,
    /// A ring buffer of the times at which commands were sent, s, the oldest first, from `first` on.
    times: Vec<f64>,
    /// The commands, in the same ring buffer.
    commands: Vec<f64>,
    first: usize,
    count: usize,
    /// s.
    now: f64,
}

/// Changes closer than this coincide, s: times are sums of many steps.
const SAME: f64 = 1e-9;

impl CommandDelay {
    /// The most commands stored in transit.
    pub const MOST: usize = 1024;

    /// With the delay of each command, s, >= 0. No command acts before [`start`](Self::start).
    pub fn new(delays: Vec<f64>) -> Self {
        let p = delays.len();
        Self {
            delays,
            times: vec![0.0; Self::MOST],
            commands: vec![0.0; Self::MOST * p],
            first: 0,
            count: 1,
            now: 0.0,
        }
    }

    /// The longest delay, s.
    pub fn longest(&self) -> f64 {
        self.delays.iter().copied().fold(0.0, f64::max)
    }

    /// Restarts with these commands acting, as if they had been sent long ago.
    ///
    /// # Panics
    /// If the number of commands is not that of the delays.
    pub fn start(&mut self, commands: &[f64]) {
        (self.first, self.count, self.now) = (0, 1, 0.0);
        self.times[0] = f64::NEG_INFINITY;
        self.commands[..self.delays.len()].copy_from_slice(commands);
    }

    /// Sends these commands now. They hold until others are sent.
    ///
    /// # Panics
    /// If the number of commands is not that of the delays.
    pub fn send(&mut self, commands: &[f64]) {
        let last = self.count - 1;
        if self.at(last) == commands {
            return;
        }
        // Drop what has arrived, except for the last command.
        let arrived = self.now - self.longest();
        while self.count > 1 && self.time(1) <= arrived {
            self.first = (self.first + 1) % Self::MOST;
            self.count -= 1;
        }
        let is_new = self.now > self.time(self.count - 1) && self.count < Self::MOST;
        self.count += usize::from(is_new);
        let place = self.place(self.count - 1);
        let p = self.delays.len();
        self.times[place] = self.now;
        self.commands[place * p..][..p].copy_from_slice(commands);
    }

    /// Writes the commands that act `later` s from now (>= 0) if no others are sent. Returns how long none of them changes, s.
    ///
    /// # Panics
    /// If `acting` does not have one entry per delay.
    pub fn in_effect(&self, later: f64, acting: &mut [f64]) -> f64 {
        assert_eq!(acting.len(), self.delays.len(), "number of commands");
        let mut left = f64::INFINITY;
        // Most delays are equal.
        let mut last: Option<(f64, usize)> = None;
        for (i, (acting, delay)) in acting.iter_mut().zip(&self.delays).enumerate() {
            let at = match last {
                Some((same, at)) if same == *delay => at,
                _ => {
                    let given = self.now + later - delay;
                    let at = self.last_given(given + SAME);
                    if at + 1 < self.count {
                        left = left.min(self.time(at + 1) - given);
                    }
                    last = Some((*delay, at));
                    at
                }
            };
            *acting = self.at(at)[i];
        }
        left
    }

    /// Advances the time, s.
    pub fn advance(&mut self, time: f64) {
        self.now += time;
    }

    /// The last commands sent up to this time; the first ones if there are none.
    fn last_given(&self, until: f64) -> usize {
        let (mut low, mut high) = (0, self.count);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.time(middle) <= until {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    fn place(&self, index: usize) -> usize {
        (self.first + index) % Self::MOST
    }

    fn time(&self, index: usize) -> f64 {
        self.times[self.place(index)]
    }

    fn at(&self, index: usize) -> &[f64] {
        let p = self.delays.len();
        &self.commands[self.place(index) * p..][..p]
    }
}
