//! Flight logs: the MCAP writer and the readers of all recordings.
