//! Access of tests to the review apps, which they read and change.

use data_model::ReviewWidget;

use super::RunningStores;
use crate::EmulatorError;
use crate::log::Requests;
use crate::reviews::ReviewsTruth;
use crate::shop::lock;
use crate::widgets::WidgetFault;

impl RunningStores {
    /// Returns the URL of an app, or `None` without [`EmulatorConfig::widgets`](crate::EmulatorConfig::widgets).
    #[must_use]
    pub fn widget_url(&self, widget: ReviewWidget) -> Option<String> {
        let host = self.widgets.iter().find(|host| host.widget == widget)?;
        Some(format!("http://{}", host.address))
    }

    /// Returns the true reviews of a store, or `None` if it uses no app.
    pub fn reviews(&self, slug: &str) -> Result<Option<ReviewsTruth>, EmulatorError> {
        Ok(self.shop(slug)?.reviews())
    }

    /// Adds a review of a product as the store's newest one. Returns its id, or `None` if the store lacks the product
    /// or an app.
    pub fn add_review(&self, slug: &str, handle: &str, stars: u8, text: &str) -> Result<Option<String>, EmulatorError> {
        Ok(self.shop(slug)?.add_review(handle, stars, text))
    }

    /// Changes the stars and the text of a review.
    pub fn edit_review(&self, slug: &str, id: &str, stars: u8, text: &str) -> Result<(), EmulatorError> {
        self.shop(slug)?.edit_review(id, stars, text);
        Ok(())
    }

    /// Deletes a review.
    pub fn delete_review(&self, slug: &str, id: &str) -> Result<(), EmulatorError> {
        self.shop(slug)?.delete_review(id);
        Ok(())
    }

    /// Switches the app on a store's pages, or removes it. The previous app still responds to requests.
    pub fn use_app(&self, slug: &str, app: Option<ReviewWidget>) -> Result<(), EmulatorError> {
        self.shop(slug)?.use_app(app);
        Ok(())
    }

    /// Sets the fault of an app; `None` removes it.
    pub fn set_widget_fault(&self, widget: ReviewWidget, fault: impl Into<Option<WidgetFault>>) {
        let fault = fault.into();
        for host in self.widgets.iter().filter(|host| host.widget == widget) {
            host.since.store(0, std::sync::atomic::Ordering::Release);
            lock(&host.fault).clone_from(&fault);
        }
    }

    /// Returns the log of requests to an app since the start.
    #[must_use]
    pub fn widget_requests(&self, widget: ReviewWidget) -> Requests {
        let host = self.widgets.iter().find(|host| host.widget == widget);
        host.map(|host| lock(&host.log).all()).unwrap_or_default()
    }
}
