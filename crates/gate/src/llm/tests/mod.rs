mod again;
mod odd;
mod recorded;
mod refused;
mod scripts;
