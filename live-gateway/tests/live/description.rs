use live_gateway::LiveGateway;
use live_gateway::coupons::Finder;

#[test]
fn answers_may_gain_members_and_say_what_their_texts_and_numbers_are() {
    for document in [LiveGateway::openapi(), Finder::openapi()] {
        let document = serde_json::to_value(document).unwrap();
        assert_eq!(kit::description_faults(&document), Vec::<String>::new());
    }
}
