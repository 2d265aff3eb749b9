/// Server side of an SMTP conversation: the minimum for a mail, and a log of the client's lines.
#[derive(Debug, Default)]
pub struct SmtpTalk {
    /// Lines that the client sent.
    pub told: Vec<String>,
    is_text: bool,
}

impl SmtpTalk {
    /// Returns the response to a line; mail for the recipient `refused` is refused.
    pub fn answer(&mut self, line: String, refused: &str) -> &'static str {
        let answer = match line.as_str() {
            "." if self.is_text => "250 taken\r\n",
            _ if self.is_text => "",
            line if line.starts_with("EHLO") => "250-mail.example\r\n250 AUTH PLAIN\r\n",
            line if line.contains(refused) => "550 <asha@mail.example> is unknown\r\n",
            "STARTTLS" => "220 go on\r\n",
            "DATA" => "354 go on\r\n",
            "QUIT" => "221 bye\r\n",
            _ => "250 well\r\n",
        };
        self.is_text = (self.is_text || line == "DATA") && line != ".";
        self.told.push(line);
        answer
    }
}
