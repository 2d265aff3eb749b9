//! Review apps as tests see and change them.

use data_model::ReviewWidget;

use super::RunningStores;
use crate::EmulatorError;
use crate::log::Requests;
use crate::reviews::ReviewsTruth;
use crate::shop::lock;
use crate::widgets::WidgetFault;

impl RunningStores {
    /// The address of an app; `None` without [`EmulatorConfig::widgets`](crate::EmulatorConfig::widgets).
    #[must_use]
    pub fn widget_url(&self, widget: ReviewWidget) -> Option<String> {
        let host = self.widgets.iter().find(|host| host.widget == widget)?;
        Some(format!("http://{}", host.address))
    }

    /// The true reviews of a store; `None` where it uses no app.
    pub fn reviews(&self, slug: &str) -> Result<Option<ReviewsTruth>, EmulatorError> {
        Ok(self.shop(slug)?.reviews())
    }

    /// Adds a review of a product, the newest of its store; its id, where the store has the product and uses an app.
    pub fn add_review(&self, slug: &str, handle: &str, stars: u8, text: &str) -> Result<Option<String>, EmulatorError> {
        Ok(self.shop(slug)?.add_review(handle, stars, text))
    }

    /// Gives a review other stars and another text.
    pub fn edit_review(&self, slug: &str, id: &str, stars: u8, text: &str) -> Result<(), EmulatorError> {
        self.shop(slug)?.edit_review(id, stars, text);
        Ok(())
    }

    /// Deletes a review.
    pub fn delete_review(&self, slug: &str, id: &str) -> Result<(), EmulatorError> {
        self.shop(slug)?.delete_review(id);
        Ok(())
    }

    /// Lets a store's pages carry another app, or none. The app before goes on answering.
    pub fn use_app(&self, slug: &str, app: Option<ReviewWidget>) -> Result<(), EmulatorError> {
        self.shop(slug)?.use_app(app);
        Ok(())
    }

    /// Sets what goes wrong at an app; `None` makes it well again.
    pub fn set_widget_fault(&self, widget: ReviewWidget, fault: impl Into<Option<WidgetFault>>) {
        let fault = fault.into();
        for host in self.widgets.iter().filter(|host| host.widget == widget) {
            host.since.store(0, std::sync::atomic::Ordering::Release);
            lock(&host.fault).clone_from(&fault);
        }
    }

    /// The requests to an app since the start.
    #[must_use]
    pub fn widget_requests(&self, widget: ReviewWidget) -> Requests {
        let host = self.widgets.iter().find(|host| host.widget == widget);
        host.map(|host| lock(&host.log).all()).unwrap_or_default()
    }
}
