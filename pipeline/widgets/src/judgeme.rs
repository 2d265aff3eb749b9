//! Reads Judge.me's widget pages, which are HTML inside JSON. Requests for these pages need no key except the shop's
//! domain.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use serde_json::Value;

use crate::answer::{AnswerError, FeedPage, FeedReview, ProductRef, RejectedRecord, Summary, json, summary};
use crate::detect::WidgetKey;
use crate::value::{Parts, id, number, refused, text, whole};

/// Number of reviews per page. The app returns fewer than requested beyond about twenty.
const PER_PAGE: u32 = 20;
const HTML_BYTES_MAX: usize = 4 << 20;
const PART_BYTES_MAX: usize = 64 << 10;

pub(crate) fn feed(key: &WidgetKey, page: u32) -> String {
    format!(
        "/reviews/all_reviews_js_based?shop_domain={}&platform=shopify&review_type=product-reviews\
         &sort_by=created_at&sort_dir=desc&page={page}&per_page={PER_PAGE}",
        key.key
    )
}

pub(crate) fn product(key: &WidgetKey, product: u64) -> String {
    format!(
        "/reviews/reviews_for_widget?shop_domain={}&platform=shopify&product_id={product}&page=1&per_page=1",
        key.key
    )
}

pub(crate) fn read_feed(bytes: &[u8]) -> Result<FeedPage, AnswerError> {
    let answer = json(bytes)?;
    let html = text(&answer, "html").ok_or(AnswerError::Member("html"))?;
    let mut page = FeedPage {
        total: answer.get("total_count").and_then(whole),
        ..FeedPage::default()
    };
    for (place, block) in blocks(html).into_iter().enumerate() {
        page.take(block.read(place).map_err(|refused| refused.showing(&block.shown())));
    }
    Ok(page)
}

pub(crate) fn read_product(bytes: &[u8]) -> Result<Summary, AnswerError> {
    let answer = json(bytes)?;
    let count = answer.get("number_of_reviews").and_then(whole);
    let count = count.ok_or(AnswerError::Member("number_of_reviews"))?;
    summary(count, answer.get("average_rating").and_then(number))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Author,
    Title,
    Body,
}

#[derive(Debug, Default)]
struct Block {
    id: String,
    score: String,
    verified: Option<bool>,
    created_at: String,
    link: String,
    texts: [String; 3],
}

impl Block {
    /// Returns the review's contents as JSON, because its HTML is not kept.
    fn shown(&self) -> Value {
        let [author, title, body] = &self.texts;
        serde_json::json!({
            "id": self.id, "score": self.score, "created_at": self.created_at, "link": self.link,
            "author": author, "title": title, "body": body,
        })
    }

    fn read(&self, place: usize) -> Result<FeedReview, RejectedRecord> {
        let id = id(&Value::String(self.id.clone()));
        let id = id.ok_or_else(|| refused(&format!("review {place}"), "the review has no usable id"))?;
        let [author, title, body] = &self.texts;
        let parts = Parts {
            stars: number(&Value::String(self.score.clone())),
            author: Some(author),
            title: Some(title),
            body: Some(body),
            created_at: Some(&self.created_at),
        };
        Ok(FeedReview {
            review: parts.review().map_err(|reason| refused(&id, reason))?,
            id,
            product: handle(&self.link),
            is_verified: self.verified,
        })
    }
}

fn handle(link: &str) -> ProductRef {
    let handle = link.split_once("/products/").map(|(_, rest)| rest);
    let handle = handle.and_then(|rest| rest.split(['#', '?', '/']).next());
    match handle.filter(|handle| !handle.is_empty() && handle.len() <= 255) {
        Some(handle) => ProductRef::Handle(handle.to_owned()),
        None => ProductRef::Unknown,
    }
}

#[derive(Debug, Default)]
struct Tag {
    name: Vec<u8>,
    attribute: Vec<u8>,
    class: String,
    id: String,
    score: String,
    verified: String,
    content: String,
    href: String,
}

#[derive(Debug, Default)]
struct Reader {
    tag: Tag,
    blocks: Vec<Block>,
    /// Part whose text is being read, its element, and the number of open elements of that name.
    within: Option<(Part, Vec<u8>, u32)>,
}

fn blocks(html: &str) -> Vec<Block> {
    let html = &html[..html.floor_char_boundary(HTML_BYTES_MAX)];
    let mut reader = Reader::default();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<()> {
        reader.see(&event);
        None
    });
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(html, emitter) {
        // Reading from memory cannot fail, and the emitter yields no tokens.
        let Ok(()) = token;
    }
    reader.blocks
}

impl Reader {
    fn see(&mut self, event: &CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = Tag {
                    name: name.to_vec(),
                    ..Tag::default()
                };
            }
            CallbackEvent::AttributeName { name } => self.tag.attribute = name.to_vec(),
            CallbackEvent::AttributeValue { value } => self.attribute(value),
            CallbackEvent::CloseStartTag { .. } => self.open(),
            CallbackEvent::EndTag { name } => self.close(name),
            CallbackEvent::String { value } => self.text(&String::from_utf8_lossy(value)),
            _ => {}
        }
    }

    fn attribute(&mut self, value: &[u8]) {
        let tag = &mut self.tag;
        let place = match tag.attribute.as_slice() {
            b"class" => &mut tag.class,
            b"data-review-id" => &mut tag.id,
            b"data-score" => &mut tag.score,
            b"data-verified-buyer" => &mut tag.verified,
            b"data-content" => &mut tag.content,
            b"href" => &mut tag.href,
            _ => return,
        };
        let value = String::from_utf8_lossy(value);
        place.push_str(&value[..value.floor_char_boundary(2048)]);
    }

    fn open(&mut self) {
        let tag = std::mem::take(&mut self.tag);
        let is = |class: &str| tag.class.split_ascii_whitespace().any(|one| one == class);
        if is("jdgm-rev") {
            self.within = None;
            self.blocks.push(Block {
                id: tag.id,
                verified: match tag.verified.as_str() {
                    "true" => Some(true),
                    "false" => Some(false),
                    _ => None,
                },
                ..Block::default()
            });
            return;
        }
        let Some(block) = self.blocks.last_mut() else { return };
        if let Some((part, element, depth)) = &mut self.within {
            *depth += u32::from(*element == tag.name);
            if *part == Part::Body && matches!(tag.name.as_slice(), b"br" | b"p") {
                block.texts[Part::Body as usize].push('\n');
            }
            return;
        }
        let part = if is("jdgm-rev__author") {
            Some(Part::Author)
        } else if is("jdgm-rev__title") {
            Some(Part::Title)
        } else if is("jdgm-rev__body") {
            Some(Part::Body)
        } else {
            None
        };
        if let Some(part) = part {
            self.within = Some((part, tag.name, 1));
        } else if is("jdgm-rev__rating") {
            block.score = tag.score;
        } else if is("jdgm-rev__timestamp") {
            block.created_at = tag.content;
        } else if is("jdgm-rev__prod-link") {
            block.link = tag.href;
        }
    }

    fn close(&mut self, name: &[u8]) {
        if let Some((_, element, depth)) = &mut self.within
            && element.as_slice() == name
        {
            *depth -= 1;
            if *depth == 0 {
                self.within = None;
            }
        }
    }

    fn text(&mut self, text: &str) {
        let (Some((part, ..)), Some(block)) = (&self.within, self.blocks.last_mut()) else {
            return;
        };
        let held = &mut block.texts[*part as usize];
        let room = PART_BYTES_MAX.saturating_sub(held.len());
        held.push_str(&text[..text.floor_char_boundary(room)]);
    }
}
