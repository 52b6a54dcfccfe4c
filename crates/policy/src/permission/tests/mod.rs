//! Rules, modes and the floor.
