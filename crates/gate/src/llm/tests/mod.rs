mod again;
mod hidden;
mod numbers;
mod odd;
mod recorded;
mod refused;
mod scripts;
