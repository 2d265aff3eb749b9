use super::*;

fn shown(rule: Rule, input: Option<Value>) -> Value {
    serde_json::to_value(Violation::new(vec!["query".into(), "x".into()], &rule, input)).unwrap()
}

#[test]
fn faults_read_as_pydantic_writes_them() {
    assert_eq!(
        shown(Rule::LessThanEqual(40), Some("50".into())),
        json!({"type": "less_than_equal", "loc": ["query", "x"], "msg": "Input should be less than or equal to 40",
               "input": "50", "ctx": {"le": 40}})
    );
    assert_eq!(
        shown(Rule::Missing, Some(Value::Null)),
        json!({"type": "missing", "loc": ["query", "x"], "msg": "Field required", "input": null})
    );
    let sorts = shown(Rule::Enum(vec!["relevance", "price_asc", "newest"]), Some("up".into()));
    assert_eq!(sorts["msg"], "Input should be 'relevance', 'price_asc' or 'newest'");
    assert_eq!(
        sorts["ctx"],
        json!({"expected": "'relevance', 'price_asc' or 'newest'"})
    );
}

#[test]
fn every_rule_has_its_own_words() {
    let rules = [
        Rule::Missing,
        Rule::IntParsing,
        Rule::IntParsingSize,
        Rule::IntType,
        Rule::IntFromFloat,
        Rule::GreaterThanEqual(1),
        Rule::LessThanEqual(1),
        Rule::BoolParsing,
        Rule::BoolType,
        Rule::Enum(vec!["a"]),
        Rule::StringType,
        Rule::StringUnicode,
        Rule::StringTooLong(1),
        Rule::StringTooShort(1),
        Rule::StringPatternMismatch("^a$"),
        Rule::UuidParsing("short".into()),
        Rule::JsonInvalid("eof".into()),
        Rule::DictType,
        Rule::ListType,
        Rule::TooLong { max: 1, actual: 2 },
        Rule::Code(ErrorCode::StoreRejected, "the store says no".into()),
    ];
    for rule in rules {
        assert_ne!(
            Violation::new(Vec::new(), &rule, None).kind(),
            "value_error",
            "{rule:?}"
        );
    }
}

#[test]
fn secrets_are_never_echoed_and_long_input_is_cut() {
    let secret = Violation::new(
        vec!["body".into(), "api_key".into()],
        &Rule::StringType,
        Some(json!("s3cret")),
    );
    assert!(!serde_json::to_string(&secret).unwrap().contains("s3cret"));
    let long = shown(Rule::IntParsing, Some("9".repeat(10_000).into()));
    assert!(long.to_string().len() < 600);
    // A long list must not be echoed as an empty one.
    let list = shown(Rule::TooLong { max: 20, actual: 21 }, Some(json!(vec!["a"; 21])));
    assert!(list.get("input").is_none(), "{list}");
}
