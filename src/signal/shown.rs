//! Something shown that changes where it stands.

use std::sync::atomic::{AtomicU64, Ordering};

use claimlab_protocol::{Bundle, Event};

use super::{emit, is_kernel, show_elsewhere};

/// A display that can be replaced in place, by the cell that made it or by a later one that still has the handle.
///
/// Outside of the ClaimLab kernel nothing can be replaced, and every version is shown below the one before.
///
/// ```
/// use claimlab::signal::Shown;
///
/// let state = Shown::new(None, "waiting for the annotators");
/// state.update(Some("<b>3 of 8</b> have answered"), "3 of 8 have answered");
/// ```
#[derive(Debug)]
pub struct Shown {
    id: String,
}

impl Shown {
    /// Shows something now. `html` goes to the notebook as it is, so text of data in it must be escaped before;
    /// `plain` stands where there is no HTML.
    #[must_use = "without the handle the display cannot be updated; `display` shows what stays as it is"]
    pub fn new(html: Option<&str>, plain: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = format!("claimlab-shown-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        if is_kernel() {
            emit(&Event::Display { data: bundle(html, plain), id: Some(id.clone()) });
        } else {
            show_elsewhere(html, None, plain);
        }
        Self { id }
    }

    /// Replaces what is shown; see [`Shown::new`] for the two texts.
    pub fn update(&self, html: Option<&str>, plain: &str) {
        if is_kernel() {
            emit(&Event::Update { data: bundle(html, plain), id: self.id.clone() });
        } else {
            show_elsewhere(html, None, plain);
        }
    }
}

fn bundle(html: Option<&str>, plain: &str) -> Bundle {
    let mut data = Bundle::from([("text/plain".to_owned(), plain.to_owned())]);
    data.extend(html.map(|text| ("text/html".to_owned(), text.to_owned())));
    data
}
