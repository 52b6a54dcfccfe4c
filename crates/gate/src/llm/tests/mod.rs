mod again;
mod hidden;
mod odd;
mod recorded;
mod refused;
mod scripts;
