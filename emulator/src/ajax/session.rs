use crate::ask::{Ask, FormField, form};
use crate::cart::{Attribute, BuyerInput, Cart, LineInput};
use crate::desk::{CartAccess, Desk};
use crate::generated::dice::fold_bytes;
use crate::reply::Reply;
use crate::shop::Shop;

/// The client, by its cookies.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// Token and key of the client's cart.
    cart: Option<(String, String)>,
    /// The code that the client was sent here with.
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

    /// The client's cart, by its cookie.
    pub(super) fn access(&self) -> Option<CartAccess<'_>> {
        let (token, key) = self.cart.as_ref()?;
        Some(CartAccess { token, key })
    }

    /// The client's cart, with the code that it was sent here with; `None` before anything entered one.
    pub(super) fn cart(&self, desk: &Desk<'_>) -> Option<Cart> {
        let CartAccess { token, key } = self.access()?;
        let mut cart = desk.find(token).filter(|cart| cart.key == key)?;
        self.enter(&mut cart);
        Some(cart)
    }

    /// Enters the code that the client was sent here with.
    pub(super) fn enter(&self, cart: &mut Cart) {
        if let Some(code) = &self.code {
            let codes: Vec<String> = cart.codes.iter().cloned().chain([code.clone()]).collect();
            cart.set_codes(codes);
        }
    }
}

/// The cookie that says which cart is a client's.
pub(super) fn cookie(cart: &Cart) -> String {
    format!("cart={}%3Fkey%3D{}; path=/; SameSite=Lax", cart.token, cart.key)
}

/// The name of a line: the variant, and what follows from its attributes.
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

/// `/discount/CODE`: remembers the code and goes on. Whether there is such a code is not said.
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

/// True for a path of the store itself.
fn is_local(to: &str) -> bool {
    to.starts_with('/') && !to.starts_with("//") && to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// `/cart/VARIANT:QUANTITY,…`: a new cart, and on to the checkout. Variants that the store does not have are left out.
pub(super) fn permalink(shop: &Shop, desk: &Desk<'_>, wanted: &str, ask: &Ask) -> Reply {
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
            desk.offers.find(variant)?;
            Some(LineInput {
                merchandise: variant.to_string(),
                variant: Some(variant),
                quantity: quantity.parse().ok()?,
                attributes: Vec::new(),
                selling_plan: false,
            })
        })
        .collect();
    let served = desk.create(None, |cart, desk| {
        let short = cart.add_lines(&lines, &["lines"], &desk.offers)?;
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
        // An address that is none is asked for again at the checkout.
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
        cookies: vec![cookie(&cart)],
        ..Reply::redirect(302, to)
    }
}

/// The members of `name[key]=value` among parameters.
pub(super) fn named<'a>(given: &'a [FormField], name: &'a str) -> impl Iterator<Item = FormField> + 'a {
    given.iter().filter_map(move |field| {
        let inner = field.name.strip_prefix(name)?.strip_prefix('[')?.strip_suffix(']')?;
        Some(FormField {
            name: inner.to_owned(),
            value: field.value.clone(),
        })
    })
}

/// The members of a form that was posted.
pub(super) fn posted_form(ask: &Ask) -> Vec<FormField> {
    std::str::from_utf8(&ask.body).map(form).unwrap_or_default()
}
