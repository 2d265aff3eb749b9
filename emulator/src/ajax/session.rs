use crate::ask::{Ask, FormField, form};
use crate::cart::{Attribute, BuyerInput, Cart, LineInput};
use crate::cart_service::{CartAccess, CartService};
use crate::generated::dice::fold_bytes;
use crate::reply::Reply;
use crate::shop::Shop;

/// Session of a client, read from its cookies.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Token and key of the client's cart.
    cart: Option<(String, String)>,
    /// Discount code in the link by which the client arrived.
    code: Option<String>,
}

impl Session {
    pub(super) fn of(ask: &Ask) -> Self {
        let mut session = Self::default();
        for FormField { name, value } in &ask.cookies {
            match name.as_str() {
                "cart" => {
                    let parts = value.split_once("?key=");
                    session.cart = parts.map(|(token, key)| (token.to_owned(), key.to_owned()));
                }
                "discount_code" if !value.is_empty() => session.code = Some(value.clone()),
                _ => {}
            }
        }
        session
    }

    /// Returns access to the cart that the client's cookie names.
    pub(super) fn access(&self) -> Option<CartAccess<'_>> {
        let (token, key) = self.cart.as_ref()?;
        Some(CartAccess { token, key })
    }

    /// Returns the client's cart with the code in the link, or `None` if the client has no cart yet.
    pub(super) fn cart(&self, service: &CartService<'_>) -> Option<Cart> {
        let CartAccess { token, key } = self.access()?;
        let mut cart = service.find(token).filter(|cart| cart.key == key)?;
        self.enter(&mut cart);
        Some(cart)
    }

    /// Enters the code in the client's link into the cart.
    pub(super) fn enter(&self, cart: &mut Cart) {
        if let Some(code) = &self.code {
            let codes: Vec<String> = cart.codes.iter().cloned().chain([code.clone()]).collect();
            cart.set_codes(codes);
        }
    }
}

/// Returns the key of a line: the variant id and a hash of its attributes.
pub(super) fn key_of(variant: u64, attributes: &[Attribute]) -> String {
    let mut text = Vec::new();
    for Attribute { key, value } in attributes {
        text.extend_from_slice(key.as_bytes());
        text.push(0);
        text.extend_from_slice(value.as_bytes());
        text.push(1);
    }
    format!(
        "{variant}:{:016x}{:016x}",
        fold_bytes(&text),
        fold_bytes(&variant.to_le_bytes())
    )
}

/// Handles `/discount/CODE`: writes the code to a cookie and redirects. The response does not reveal if the code
/// exists.
pub(super) fn discount(ask: &Ask, code: &str) -> Reply {
    let to = ask.parameter("redirect").filter(|to| is_local(to));
    let plain: String = code
        .chars()
        .filter(|it| it.is_ascii_graphic() && !";,\"\\%".contains(*it))
        .collect();
    Reply {
        cookies: vec![format!("discount_code={plain}; path=/; SameSite=Lax")],
        ..Reply::redirect(302, to.unwrap_or_else(|| "/".to_owned()))
    }
}

/// True for a path on the store itself.
fn is_local(to: &str) -> bool {
    to.starts_with('/') && !to.starts_with("//") && to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// Handles `/cart/VARIANT:QUANTITY,…`: creates a cart and redirects to the checkout. Unknown variants are left out.
pub(super) fn permalink(shop: &Shop, service: &CartService<'_>, wanted: &str, ask: &Ask) -> Reply {
    let given = ask.parameters();
    let one = |name: &str| {
        given
            .iter()
            .find(|field| field.name == name)
            .map(|field| field.value.clone())
    };
    let lines: Vec<LineInput> = wanted
        .split(',')
        .filter_map(|part| {
            let (variant, quantity) = part.split_once(':')?;
            let variant: u64 = variant.parse().ok()?;
            service.offers.find(variant)?;
            Some(LineInput {
                merchandise: variant.to_string(),
                variant: Some(variant),
                quantity: quantity.parse().ok()?,
                attributes: Vec::new(),
                selling_plan: false,
            })
        })
        .collect();
    let served = service.create(None, |cart, service| {
        let short = cart.add_lines(&lines, &["lines"], &service.offers)?;
        cart.set_codes(one("discount").unwrap_or_default().split(',').map(str::to_owned));
        cart.set_note(&one("note").unwrap_or_default(), &["note"])?;
        let attributes = named(&given, "attributes").map(|field| Attribute {
            key: field.name,
            value: field.value,
        });
        cart.set_attributes(attributes.collect(), &["attributes"])?;
        let buyer = BuyerInput {
            email: one("checkout[email]"),
            ..BuyerInput::default()
        };
        // The checkout asks for an invalid address again.
        let _ = cart.set_buyer(buyer, &["checkout"]);
        Ok(short)
    });
    let Some((cart, _)) = served.cart else {
        return Reply::redirect(302, format!("{}/cart", shop.address.base_url));
    };
    let base = &shop.address.base_url;
    let to = if one("storefront").as_deref() == Some("true") || cart.lines.is_empty() {
        format!("{base}/cart")
    } else {
        format!("{base}/checkouts/cn/{}?key={}", cart.token, cart.checkout_key)
    };
    Reply {
        cookies: vec![cart.cookie()],
        ..Reply::redirect(302, to)
    }
}

/// Returns the fields `name[key]=value` among the parameters.
pub(super) fn named<'a>(given: &'a [FormField], name: &'a str) -> impl Iterator<Item = FormField> + 'a {
    given.iter().filter_map(move |field| {
        let inner = field.name.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
        Some(FormField {
            name: inner.to_owned(),
            value: field.value.clone(),
        })
    })
}

pub(super) fn posted_form(ask: &Ask) -> Vec<FormField> {
    std::str::from_utf8(&ask.body).map(form).unwrap_or_default()
}
