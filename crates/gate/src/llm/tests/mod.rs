mod again;
mod hidden;
mod kinds;
mod numbers;
mod odd;
mod recorded;
mod refused;
mod scripts;
