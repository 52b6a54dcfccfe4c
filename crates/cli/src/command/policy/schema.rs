//! `palisade policy schema`: the JSON Schema of policy files.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

pub(super) fn run(ui: &Ui) -> Result<Exit, Failure> {
    ui.data(&palisade::policy::schema::json())?;
    Ok(Exit::Success)
}
