/// A product's outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Backpack,
    Bag,
    Bear,
    Bed,
    Belt,
    Blocks,
    Bone,
    Boot,
    Bottle,
    Bowl,
    Box,
    Candle,
    Card,
    Chair,
    Charger,
    Clock,
    Collar,
    Cushion,
    Dress,
    Dropper,
    Dumbbell,
    Earbuds,
    Earrings,
    Headphones,
    Hoodie,
    Jar,
    Keyboard,
    Knife,
    Kurta,
    Lamp,
    Lipstick,
    Mat,
    Mug,
    Necklace,
    Notebook,
    Pan,
    Pen,
    Perfume,
    Phone,
    Plant,
    Plate,
    Pouch,
    Press,
    Ring,
    Romper,
    Sandal,
    Saree,
    Shelf,
    Shirt,
    Sneaker,
    Speaker,
    Tee,
    Tin,
    Towel,
    Trousers,
    Tube,
    Vase,
    Wallet,
    Watch,
}

impl Shape {
    /// Every shape.
    #[cfg(test)]
    pub(crate) const ALL: &'static [Self] = &[
        Self::Backpack,
        Self::Bag,
        Self::Bear,
        Self::Bed,
        Self::Belt,
        Self::Blocks,
        Self::Bone,
        Self::Boot,
        Self::Bottle,
        Self::Bowl,
        Self::Box,
        Self::Candle,
        Self::Card,
        Self::Chair,
        Self::Charger,
        Self::Clock,
        Self::Collar,
        Self::Cushion,
        Self::Dress,
        Self::Dropper,
        Self::Dumbbell,
        Self::Earbuds,
        Self::Earrings,
        Self::Headphones,
        Self::Hoodie,
        Self::Jar,
        Self::Keyboard,
        Self::Knife,
        Self::Kurta,
        Self::Lamp,
        Self::Lipstick,
        Self::Mat,
        Self::Mug,
        Self::Necklace,
        Self::Notebook,
        Self::Pan,
        Self::Pen,
        Self::Perfume,
        Self::Phone,
        Self::Plant,
        Self::Plate,
        Self::Pouch,
        Self::Press,
        Self::Ring,
        Self::Romper,
        Self::Sandal,
        Self::Saree,
        Self::Shelf,
        Self::Shirt,
        Self::Sneaker,
        Self::Speaker,
        Self::Tee,
        Self::Tin,
        Self::Towel,
        Self::Trousers,
        Self::Tube,
        Self::Vase,
        Self::Wallet,
        Self::Watch,
    ];

    /// Its markup on a field of 400 by 400: `$a` stands for the product's tone, `$b` for a darker, `$c` for a lighter one.
    pub(crate) const fn markup(self) -> &'static str {
        match self {
            Self::Kurta
            | Self::Saree
            | Self::Shirt
            | Self::Tee
            | Self::Dress
            | Self::Trousers
            | Self::Hoodie
            | Self::Romper
            | Self::Sneaker
            | Self::Sandal
            | Self::Boot
            | Self::Bag
            | Self::Backpack
            | Self::Wallet
            | Self::Belt
            | Self::Collar => self.worn(),
            Self::Jar
            | Self::Bottle
            | Self::Dropper
            | Self::Tube
            | Self::Lipstick
            | Self::Perfume
            | Self::Pouch
            | Self::Tin
            | Self::Box
            | Self::Mug
            | Self::Press
            | Self::Bowl
            | Self::Plate
            | Self::Pan
            | Self::Knife => self.consumed(),
            Self::Bed
            | Self::Cushion
            | Self::Towel
            | Self::Mat
            | Self::Lamp
            | Self::Vase
            | Self::Candle
            | Self::Chair
            | Self::Plant
            | Self::Clock
            | Self::Shelf => self.housed(),
            _ => self.handled(),
        }
    }

    const fn worn(self) -> &'static str {
        match self {
            Self::Kurta => {
                r##"<path d="M150 84l-62 42-14 92 34 8 14-58v164h156V168l14 58 34-8-14-92-62-42q-50 34-100 0z" fill="$a"/><path d="M150 84q50 34 100 0l-14-8q-36 22-72 0z" fill="$b"/><path d="M192 104h16v74l-8 10-8-10z" fill="$c"/><path d="M122 312h156M122 322h156M80 214l28 7M320 214l-28 7" stroke="$c" stroke-width="5" fill="none"/><path d="M122 332V250q8 40 6 82M278 332V250q-8 40-6 82" fill="$b" opacity=".5"/><g fill="$c"><circle cx="152" cy="220" r="4"/><circle cx="200" cy="230" r="4"/><circle cx="248" cy="220" r="4"/><circle cx="176" cy="262" r="4"/><circle cx="224" cy="262" r="4"/></g>"##
            }
            Self::Saree => {
                r##"<path d="M120 84h160l22 250H98z" fill="$a"/><path d="M120 84q40 60 182 250h-60Q150 190 112 160z" fill="$b" opacity=".45"/><path d="M98 318h204l2 16H97z" fill="$c"/><path d="M120 84h160l2 16H118z" fill="$c"/><path d="M112 160q38 30 130 174" stroke="$c" stroke-width="7" fill="none"/><g fill="$c" opacity=".85"><path d="M220 140l6 10-6 10-6-10zM256 180l6 10-6 10-6-10zM216 200l6 10-6 10-6-10zM260 246l6 10-6 10-6-10zM140 240l6 10-6 10-6-10zM160 290l6 10-6 10-6-10z"/></g>"##
            }
            Self::Shirt => {
                r##"<path d="M150 78l-66 40-18 108 38 8 14-62v162h164V172l14 62 38-8-18-108-66-40-50 26z" fill="$a"/><path d="M150 78l50 26-30 40-32-56zM250 78l-50 26 30 40 32-56z" fill="$c"/><path d="M200 104v230" stroke="$b" stroke-width="3"/><g fill="$b"><circle cx="206" cy="150" r="4"/><circle cx="206" cy="196" r="4"/><circle cx="206" cy="242" r="4"/><circle cx="206" cy="288" r="4"/></g><path d="M224 176h38v40h-38z" fill="none" stroke="$b" stroke-width="3"/>"##
            }
            Self::Tee => {
                r##"<path d="M148 84L74 122l-18 70 46 16 16-34v160h164V174l16 34 46-16-18-70-74-38q-52 44-104 0z" fill="$a"/><path d="M148 84q52 44 104 0l10 5q-62 56-124 0z" fill="$b"/><circle cx="200" cy="210" r="40" fill="$c" opacity=".9"/><path d="M166 220q34-46 68 0" stroke="$b" stroke-width="6" fill="none"/>"##
            }
            Self::Dress => {
                r##"<path d="M160 74l-6 62 12 40-72 158h212l-72-158 12-40-6-62-20 26h-40z" fill="$a"/><path d="M166 176h68l4 12h-76z" fill="$c"/><path d="M180 188l-46 146M220 188l46 146M200 188v146" stroke="$b" stroke-width="3" opacity=".5"/><path d="M104 312q96 24 192 0l10 22H94z" fill="$b" opacity=".6"/>"##
            }
            Self::Trousers => {
                r##"<path d="M134 72h132l24 262h-66l-24-180-24 180h-66z" fill="$a"/><path d="M134 72h132l2 24H132z" fill="$b"/><path d="M200 96v58M150 100q4 30-18 40M250 100q-4 30 18 40" stroke="$c" stroke-width="3" fill="none"/><path d="M110 322h66M224 322h66" stroke="$c" stroke-width="4"/>"##
            }
            Self::Hoodie => {
                r##"<path d="M148 96l-66 34-22 190 42 8 18-110v116h160V218l18 110 42-8-22-190-66-34z" fill="$a"/><path d="M142 104q58-66 116 0q-20 52-58 52t-58-52z" fill="$b"/><path d="M160 106q40-40 80 0q-16 34-40 34t-40-34z" fill="$c"/><path d="M150 264h100l16 52H134z" fill="$b" opacity=".55"/><path d="M184 150v52M216 150v46" stroke="$c" stroke-width="5"/>"##
            }
            Self::Romper => {
                r##"<path d="M150 100l-58 44 24 40 22-16-6 110 24 56h36l8-44 8 44h36l24-56-6-110 22 16 24-40-58-44q-50 34-100 0z" fill="$a"/><path d="M150 100q50 34 100 0l-8-8q-42 26-84 0z" fill="$b"/><g fill="$c"><circle cx="200" cy="160" r="5"/><circle cx="200" cy="190" r="5"/><circle cx="200" cy="220" r="5"/><path d="M160 236q12-18 24 0q-12 16-24 0z"/></g>"##
            }
            Self::Sneaker => {
                r##"<path d="M66 230q34 8 62-44l40 26q44 44 128 50 40 4 44 40v18H62q-10-50 4-90z" fill="$a"/><path d="M60 302h282v16q0 16-16 16H76q-16 0-16-16z" fill="$c"/><path d="M60 318h282" stroke="$b" stroke-width="3" opacity=".5"/><path d="M128 186l40 26-18 22-44-20z" fill="$b"/><path d="M172 222l22-18M192 236l22-18M214 248l20-18" stroke="$c" stroke-width="6"/><path d="M96 284q80-6 150-30" stroke="$c" stroke-width="8" fill="none"/>"##
            }
            Self::Sandal => {
                r##"<path d="M58 300q60-34 130-24t150 22q10 20-10 30-150 12-262 4-14-14-8-32z" fill="$b"/><path d="M62 288q60-30 126-20t148 20q8 8 0 16-150 10-272 4-6-8-2-20z" fill="$c"/><path d="M226 288q-6-70 40-84 46 18 52 86-44 10-92-2z" fill="$a"/><path d="M92 286q-6-50 30-64 30 8 44 56" fill="none" stroke="$a" stroke-width="16"/><path d="M240 256q26-16 64 0" stroke="$c" stroke-width="5" fill="none"/>"##
            }
            Self::Boot => {
                r##"<path d="M130 76h104l-4 138q70 22 96 52 14 22 8 46H124q-6-60 6-236z" fill="$a"/><path d="M150 120h26l6 92h-36zM196 120h26l-6 92h-26z" fill="$b"/><path d="M122 304h214v16q0 14-14 14H136q-14 0-14-14z" fill="$b"/><path d="M174 66h16v26h-16z" fill="$c"/>"##
            }
            Self::Bag => {
                r##"<path d="M138 170q0-96 62-96t62 96" fill="none" stroke="$b" stroke-width="12"/><path d="M88 158h224l18 160q0 16-16 16H86q-16 0-16-16z" fill="$a"/><path d="M84 196h232l4 30H80z" fill="$b" opacity=".35"/><path d="M176 226h48v34q-24 22-48 0z" fill="$c"/><circle cx="200" cy="246" r="6" fill="$b"/>"##
            }
            Self::Backpack => {
                r##"<path d="M164 92q0-34 36-34t36 34" fill="none" stroke="$b" stroke-width="12"/><path d="M104 170q0-88 96-88t96 88v150q0 14-14 14H118q-14 0-14-14z" fill="$a"/><path d="M130 228h140v84q0 10-10 10H140q-10 0-10-10z" fill="$b" opacity=".5"/><path d="M130 252h140M104 176q96 34 192 0" stroke="$c" stroke-width="5" fill="none"/><path d="M194 250h12v24h-12z" fill="$c"/>"##
            }
            Self::Wallet => {
                r##"<path d="M82 140q0-18 18-18h200q18 0 18 18v150q0 18-18 18H100q-18 0-18-18z" fill="$a"/><path d="M82 150h236v24H82z" fill="$b" opacity=".5"/><path d="M258 196h68q10 0 10 10v36q0 10-10 10h-68q-18-28 0-56z" fill="$b"/><circle cx="276" cy="224" r="9" fill="$c"/><path d="M96 294h208" stroke="$c" stroke-width="3" stroke-dasharray="8 6"/>"##
            }
            Self::Collar | Self::Belt => {
                r##"<ellipse cx="200" cy="210" rx="126" ry="92" fill="none" stroke="$a" stroke-width="34"/><ellipse cx="200" cy="210" rx="126" ry="92" fill="none" stroke="$c" stroke-width="3" stroke-dasharray="9 7"/><path d="M170 274h64v54h-64z" fill="none" stroke="$b" stroke-width="10"/><path d="M200 300h40" stroke="$b" stroke-width="8"/>"##
            }
            _ => "",
        }
    }

    const fn consumed(self) -> &'static str {
        match self {
            Self::Jar => {
                r##"<rect x="112" y="96" width="176" height="52" rx="12" fill="$b"/><path d="M104 152h192q14 0 14 16v142q0 24-24 24H114q-24 0-24-24V168q0-16 14-16z" fill="$a"/><rect x="90" y="196" width="220" height="96" fill="#fffdf8"/><path d="M126 224h148M126 246h148M158 268h84" stroke="$b" stroke-width="6"/><path d="M108 164v30" stroke="$c" stroke-width="8"/>"##
            }
            Self::Bottle => {
                r##"<rect x="172" y="58" width="56" height="34" rx="6" fill="$b"/><path d="M178 92h44v28q44 18 44 66v130q0 18-18 18h-96q-18 0-18-18V186q0-48 44-66z" fill="$a"/><rect x="134" y="200" width="132" height="88" fill="#fffdf8"/><path d="M156 226h88M156 246h88M176 266h48" stroke="$b" stroke-width="6"/><path d="M150 176q4-24 26-34" stroke="$c" stroke-width="7" fill="none"/>"##
            }
            Self::Dropper => {
                r##"<path d="M186 56h28q6 24 0 40h-28q-6-16 0-40z" fill="$b"/><rect x="170" y="96" width="60" height="36" rx="4" fill="#3a3735"/><path d="M150 150q0-18 20-18h60q20 0 20 18v166q0 18-18 18h-64q-18 0-18-18z" fill="$a"/><path d="M197 132h6v120l-3 12-3-12z" fill="$c"/><rect x="150" y="206" width="100" height="80" fill="#fffdf8"/><path d="M166 228h68M166 246h68M178 264h44" stroke="$b" stroke-width="5"/>"##
            }
            Self::Tube => {
                r##"<path d="M146 66h108l-10 208h-88z" fill="$a"/><path d="M144 60h112v16H144z" fill="$b"/><rect x="160" y="276" width="80" height="58" rx="6" fill="$b"/><path d="M152 130h96l-4 90h-88z" fill="#fffdf8"/><path d="M170 156h60M170 176h60M182 196h36" stroke="$b" stroke-width="5"/>"##
            }
            Self::Lipstick => {
                r##"<path d="M172 178V96q46-40 56-14v96z" fill="$a"/><path d="M172 96q40-8 56-14l-4 18-52 14z" fill="$c"/><rect x="164" y="172" width="72" height="50" fill="#d8b26a"/><rect x="152" y="218" width="96" height="116" rx="6" fill="#2b2726"/><path d="M166 232v88" stroke="#5a5350" stroke-width="6"/>"##
            }
            Self::Perfume => {
                r##"<rect x="168" y="62" width="64" height="58" rx="8" fill="$b"/><rect x="182" y="118" width="36" height="18" fill="#c9b27c"/><rect x="108" y="136" width="184" height="198" rx="22" fill="$c" opacity=".8"/><path d="M118 200h164v106q0 18-18 18H136q-18 0-18-18z" fill="$a"/><rect x="152" y="212" width="96" height="70" fill="#fffdf8"/><path d="M168 238h64M176 258h48" stroke="$b" stroke-width="5"/>"##
            }
            Self::Pouch => {
                r##"<path d="M118 84h164l10 238q-92 24-184 0z" fill="$a"/><path d="M116 78h168v24H116z" fill="$b"/><path d="M118 112h164" stroke="$c" stroke-width="3" stroke-dasharray="7 5"/><rect x="146" y="156" width="108" height="116" rx="6" fill="#fffdf8"/><path d="M200 172q34 22 0 54-34-32 0-54z" fill="$a"/><path d="M164 240h72M174 256h52" stroke="$b" stroke-width="5"/><circle cx="200" cy="134" r="7" fill="$c"/>"##
            }
            Self::Tin => {
                r##"<path d="M112 120h176v196q-88 36-176 0z" fill="$a"/><ellipse cx="200" cy="120" rx="88" ry="22" fill="$b"/><ellipse cx="200" cy="106" rx="88" ry="22" fill="$c"/><ellipse cx="200" cy="106" rx="60" ry="13" fill="$b" opacity=".4"/><path d="M112 180q88 30 176 0v84q-88 30-176 0z" fill="#fffdf8"/><path d="M150 226q50 14 100 0M160 246q40 12 80 0" stroke="$b" stroke-width="6" fill="none"/>"##
            }
            Self::Box => {
                r##"<path d="M86 146l114-44 114 44-114 46z" fill="$c"/><path d="M86 146l114 46v142L86 284z" fill="$a"/><path d="M314 146l-114 46v142l114-50z" fill="$b"/><path d="M140 124l114 46v40l-24 10v-40L118 134z" fill="#fffdf8" opacity=".85"/><path d="M104 226l70 28M104 250l48 20" stroke="#fffdf8" stroke-width="6"/>"##
            }
            Self::Mug => {
                r##"<path d="M274 158q72-6 66 60t-76 60" fill="none" stroke="$b" stroke-width="20"/><path d="M92 124h190v170q0 40-40 40H132q-40 0-40-40z" fill="$a"/><ellipse cx="187" cy="124" rx="95" ry="20" fill="$c"/><ellipse cx="187" cy="126" rx="78" ry="13" fill="#4a2f20"/><path d="M92 232q95 34 190 0" stroke="$c" stroke-width="8" fill="none"/><path d="M160 92q-14-16 0-30M200 92q-14-16 0-30" stroke="#b9b1a8" stroke-width="5" fill="none" opacity=".7"/>"##
            }
            Self::Press => {
                r##"<path d="M196 48h10v70h-10z" fill="#8d8a86"/><circle cx="201" cy="50" r="13" fill="$b"/><path d="M268 160q62 0 62 62t-62 62" fill="none" stroke="$b" stroke-width="14"/><path d="M132 118h138v12H132z" fill="$b"/><path d="M140 130h122v190q0 14-14 14h-94q-14 0-14-14z" fill="#dfe8ea" opacity=".9"/><path d="M140 210h122v110q0 14-14 14h-94q-14 0-14-14z" fill="#4a2f20"/><path d="M140 200h122v12H140z" fill="#8d8a86"/><path d="M140 150h122M140 308h122" stroke="$a" stroke-width="9"/>"##
            }
            Self::Bowl => {
                r##"<path d="M76 196h248l-32 122q-4 16-20 16H128q-16 0-20-16z" fill="$a"/><ellipse cx="200" cy="196" rx="124" ry="30" fill="$b"/><ellipse cx="200" cy="200" rx="104" ry="21" fill="$c"/><path d="M160 268q0-18 16-14h48q16-4 16 14t-16 14h-48q-16 4-16-14z" fill="#fffdf8"/>"##
            }
            Self::Plate => {
                r##"<ellipse cx="200" cy="214" rx="148" ry="112" fill="$a"/><ellipse cx="200" cy="208" rx="136" ry="101" fill="$c"/><ellipse cx="200" cy="208" rx="88" ry="63" fill="$a" opacity=".5"/><ellipse cx="200" cy="208" rx="112" ry="82" fill="none" stroke="$b" stroke-width="4" stroke-dasharray="3 11"/>"##
            }
            Self::Pan => {
                r##"<path d="M282 196l86-34q14 0 12 16l-92 46z" fill="$b"/><path d="M52 188h244q-2 132-122 132T52 188z" fill="$a"/><ellipse cx="174" cy="188" rx="122" ry="34" fill="$b"/><ellipse cx="174" cy="192" rx="104" ry="25" fill="$c" opacity=".5"/><path d="M84 236q14 42 52 60" stroke="$c" stroke-width="6" fill="none"/>"##
            }
            Self::Knife => {
                r##"<path d="M70 96q150 26 190 134l-36 28Q120 200 70 96z" fill="#d5dade"/><path d="M70 96q120 70 172 148l18-14Q220 122 70 96z" fill="#aab2b8"/><path d="M224 246l32-26 84 82q10 22-16 30z" fill="$a"/><g fill="$c"><circle cx="262" cy="250" r="6"/><circle cx="288" cy="276" r="6"/><circle cx="312" cy="302" r="6"/></g>"##
            }
            _ => "",
        }
    }

    const fn housed(self) -> &'static str {
        match self {
            Self::Bed => {
                r##"<path d="M60 148q0-20 20-20h240q20 0 20 20v60H60z" fill="$b"/><rect x="84" y="164" width="104" height="54" rx="16" fill="#fffdf8"/><rect x="212" y="164" width="104" height="54" rx="16" fill="#fffdf8"/><path d="M48 208h304v102H48z" fill="$a"/><path d="M48 208h304v26q-152 26-304 0z" fill="$c"/><g stroke="$c" stroke-width="4" opacity=".8"><path d="M92 262h24M160 262h24M228 262h24M296 262h20M126 290h24M194 290h24M262 290h24"/></g><path d="M58 310v24M342 310v24" stroke="$b" stroke-width="12"/>"##
            }
            Self::Cushion => {
                r##"<path d="M92 112q108 24 216 0 22 0 18 22-20 90 0 180 2 20-18 20-108-22-216 0-20 2-18-20 20-90 0-180-2-22 18-22z" fill="$a"/><path d="M200 150l56 72-56 72-56-72z" fill="$c"/><path d="M200 182l32 40-32 40-32-40z" fill="$b"/><path d="M104 128q96 18 192 0M104 318q96-16 192 0" stroke="$c" stroke-width="4" fill="none" stroke-dasharray="6 7"/>"##
            }
            Self::Towel => {
                r##"<path d="M110 74h180v14H110z" fill="#8c7a67"/><path d="M126 82h148v252H126z" fill="$a"/><path d="M174 88v246M226 88v246" stroke="$b" stroke-width="4" opacity=".35"/><path d="M126 274h148v14H126zM126 298h148v8H126z" fill="$c"/><path d="M130 334v10M146 334v10M162 334v10M178 334v10M194 334v10M210 334v10M226 334v10M242 334v10M258 334v10M270 334v10" stroke="$a" stroke-width="4"/>"##
            }
            Self::Mat => {
                r##"<path d="M96 250h240v84H96z" fill="$a"/><ellipse cx="96" cy="270" rx="46" ry="64" fill="$b"/><ellipse cx="96" cy="270" rx="32" ry="46" fill="$c"/><ellipse cx="96" cy="270" rx="18" ry="27" fill="$b"/><path d="M96 206h226q14 0 14 14v30H120z" fill="$a"/><path d="M190 206v128M214 206v128" stroke="$c" stroke-width="7"/>"##
            }
            Self::Lamp => {
                r##"<path d="M150 70h100l52 112H98z" fill="$a"/><path d="M98 182h204l-4 12H102z" fill="$b"/><path d="M110 194l-30 96h240l-30-96z" fill="#ffe9a8" opacity=".45"/><path d="M194 194h12v64h-12z" fill="$b"/><path d="M166 322q-10-64 34-70 44 6 34 70z" fill="$c"/><rect x="146" y="320" width="108" height="14" rx="7" fill="$b"/>"##
            }
            Self::Vase => {
                r##"<path d="M204 132Q196 84 232 48M196 132Q204 76 158 56M200 132V40" stroke="#6f7d4d" stroke-width="4" fill="none"/><g fill="#e9c46a"><circle cx="232" cy="50" r="12"/><circle cx="158" cy="58" r="12"/><circle cx="200" cy="42" r="13"/></g><path d="M164 128h72q-6 30 22 62 52 70-4 144H146q-56-74-4-144 28-32 22-62z" fill="$a"/><ellipse cx="200" cy="128" rx="36" ry="8" fill="$b"/><path d="M128 226q72 24 144 0M124 250q76 24 152 0" stroke="$c" stroke-width="6" fill="none"/>"##
            }
            Self::Candle => {
                r##"<path d="M200 84q24 34 0 54-24-20 0-54z" fill="#f7b733"/><path d="M200 104q10 18 0 30-10-12 0-30z" fill="#fff2c4"/><path d="M200 136v24" stroke="#4b4038" stroke-width="4"/><rect x="122" y="158" width="156" height="176" rx="14" fill="$a"/><ellipse cx="200" cy="160" rx="78" ry="14" fill="$c"/><rect x="148" y="206" width="104" height="84" fill="#fffdf8"/><path d="M166 232h68M166 252h68M178 272h44" stroke="$b" stroke-width="5"/>"##
            }
            Self::Chair => {
                r##"<path d="M120 84q80-26 160 0l-8 132H128z" fill="$a"/><path d="M146 104v100M173 98v106M200 96v108M227 98v106M254 104v100" stroke="$b" stroke-width="4" opacity=".5"/><rect x="104" y="212" width="192" height="40" rx="18" fill="$c"/><path d="M124 252l-18 82M276 252l18 82M150 252v66M250 252v66" stroke="#7a5a3c" stroke-width="11"/><path d="M104 214V166M296 214V166" stroke="#7a5a3c" stroke-width="10"/>"##
            }
            Self::Plant => {
                r##"<g fill="#4f7f52"><path d="M200 214Q120 200 110 110q76 10 90 104z"/><path d="M200 214q80-14 92-110-80 12-92 110z"/><path d="M200 214Q158 130 200 62q42 68 0 152z" fill="#6a9a63"/></g><path d="M200 214V80M200 210q-40-30-76-84M200 210q40-30 78-88" stroke="#38603d" stroke-width="3" fill="none"/><path d="M122 214h156l-20 110q-2 10-12 10h-92q-10 0-12-10z" fill="$a"/><rect x="112" y="204" width="176" height="28" rx="8" fill="$b"/><path d="M136 270q64 20 128 0" stroke="$c" stroke-width="6" fill="none"/>"##
            }
            Self::Clock => {
                r##"<circle cx="200" cy="200" r="132" fill="$a"/><circle cx="200" cy="200" r="112" fill="#fffdf8"/><path d="M200 100v18M200 282v18M100 200h18M282 200h18" stroke="$b" stroke-width="8"/><path d="M200 200v-66M200 200l50 34" stroke="#2e2a28" stroke-width="8"/><circle cx="200" cy="200" r="10" fill="$b"/>"##
            }
            Self::Shelf => {
                r##"<path d="M104 66v268M296 66v268" stroke="$b" stroke-width="14"/><path d="M104 104h192M104 180h192M104 256h192M104 326h192" stroke="$a" stroke-width="13"/><g><path d="M122 128h16v46h-16z" fill="$c"/><path d="M142 122h14v52h-14z" fill="$b"/><path d="M162 134h18v40h-18z" fill="#d9a520"/><path d="M232 204h16v46h-16zM252 198h14v52h-14z" fill="$c"/><path d="M128 250v-30h50v30z" fill="#9caf88"/><circle cx="246" cy="152" r="22" fill="$c"/><path d="M210 320v-40h56v40z" fill="$b" opacity=".6"/></g>"##
            }
            _ => "",
        }
    }

    const fn handled(self) -> &'static str {
        match self {
            Self::Headphones => {
                r##"<path d="M92 230V206q0-118 108-118t108 118v24" fill="none" stroke="$b" stroke-width="20"/><path d="M92 206q0-112 108-112t108 112" fill="none" stroke="$c" stroke-width="5"/><rect x="68" y="206" width="58" height="112" rx="26" fill="$a"/><rect x="274" y="206" width="58" height="112" rx="26" fill="$a"/><rect x="116" y="216" width="24" height="92" rx="12" fill="$b"/><rect x="260" y="216" width="24" height="92" rx="12" fill="$b"/>"##
            }
            Self::Earbuds => {
                r##"<rect x="96" y="196" width="208" height="138" rx="52" fill="$a"/><path d="M96 248h208" stroke="$b" stroke-width="5"/><circle cx="200" cy="282" r="7" fill="$c"/><g fill="$c"><path d="M134 92q44-8 46 34 0 26-24 26l-4 62h-22l-2-66q-28-40 6-56z"/><path d="M266 92q-44-8-46 34 0 26 24 26l4 62h22l2-66q28-40-6-56z"/></g><g fill="$b"><circle cx="162" cy="124" r="10"/><circle cx="238" cy="124" r="10"/></g>"##
            }
            Self::Speaker => {
                r##"<rect x="112" y="66" width="176" height="268" rx="34" fill="$a"/><circle cx="200" cy="236" r="66" fill="$b"/><circle cx="200" cy="236" r="44" fill="#2b2b2f"/><circle cx="200" cy="236" r="16" fill="$c"/><circle cx="200" cy="122" r="32" fill="$b"/><circle cx="200" cy="122" r="15" fill="$c"/>"##
            }
            Self::Watch => {
                r##"<path d="M156 54h88l10 90H146zM146 256h108l-10 84h-88z" fill="$b"/><rect x="118" y="124" width="164" height="156" rx="40" fill="$a"/><rect x="134" y="140" width="132" height="124" rx="28" fill="#16181d"/><path d="M160 214a42 42 0 1 1 80 0" fill="none" stroke="$c" stroke-width="9"/><path d="M180 214h40M188 234h24" stroke="#fffdf8" stroke-width="6"/><rect x="282" y="182" width="12" height="38" rx="6" fill="$b"/>"##
            }
            Self::Charger => {
                r##"<rect x="130" y="88" width="140" height="236" rx="28" fill="$a"/><rect x="146" y="104" width="108" height="140" rx="16" fill="$c" opacity=".5"/><path d="M212 124l-42 60h28l-10 46 44-64h-30z" fill="#fffdf8"/><rect x="170" y="272" width="26" height="14" rx="7" fill="$b"/><rect x="208" y="272" width="26" height="14" rx="7" fill="$b"/>"##
            }
            Self::Phone => {
                r##"<rect x="126" y="54" width="148" height="280" rx="30" fill="$a"/><rect x="138" y="66" width="124" height="256" rx="22" fill="$c" opacity=".55"/><rect x="148" y="76" width="60" height="64" rx="18" fill="$b"/><circle cx="166" cy="96" r="11" fill="#1c1d22"/><circle cx="190" cy="120" r="11" fill="#1c1d22"/><circle cx="200" cy="222" r="34" fill="none" stroke="$b" stroke-width="7"/>"##
            }
            Self::Keyboard => {
                r##"<path d="M56 184q0-20 20-20h248q20 0 20 20v108q0 20-20 20H76q-20 0-20-20z" fill="$b"/><path d="M72 180h256v20H72zM72 208h256v20H72zM72 236h256v20H72z" fill="$a"/><path d="M94 176v84M122 176v84M150 176v84M178 176v84M206 176v84M234 176v84M262 176v84M290 176v84" stroke="$b" stroke-width="6"/><rect x="128" y="266" width="144" height="24" rx="6" fill="$c"/>"##
            }
            Self::Dumbbell => {
                r##"<rect x="140" y="196" width="120" height="28" rx="10" fill="#9a9fa6"/><path d="M152 198v24M166 198v24M180 198v24M194 198v24M208 198v24M222 198v24M236 198v24M250 198v24" stroke="#7b8087" stroke-width="3"/><path d="M92 140h44l18 34v72l-18 34H92l-18-34v-72zM264 140h44l18 34v72l-18 34h-44l-18-34v-72z" fill="$a"/><path d="M92 140h44l18 34H74zM264 140h44l18 34h-80z" fill="$c" opacity=".7"/>"##
            }
            Self::Bone => {
                r##"<path d="M112 176q-42-6-36 32 6 14 24 16-14 16-2 32 26 22 48-10l108-40q22 34 48 14 16-16 0-32 22-6 22-24-6-34-44-26-2-36-36-30-22 10-16 42L126 200q-4-14-14-24z" fill="$a"/><path d="M150 218l96-36" stroke="$c" stroke-width="7"/>"##
            }
            Self::Bear => {
                r##"<circle cx="136" cy="106" r="32" fill="$a"/><circle cx="264" cy="106" r="32" fill="$a"/><circle cx="136" cy="106" r="16" fill="$c"/><circle cx="264" cy="106" r="16" fill="$c"/><ellipse cx="200" cy="272" rx="84" ry="66" fill="$a"/><ellipse cx="200" cy="278" rx="50" ry="44" fill="$c"/><circle cx="200" cy="156" r="80" fill="$a"/><ellipse cx="200" cy="184" rx="38" ry="28" fill="$c"/><circle cx="170" cy="142" r="8" fill="#2b2623"/><circle cx="230" cy="142" r="8" fill="#2b2623"/><path d="M188 172h24l-12 13z" fill="#2b2623"/><path d="M200 185v8q-10 10-18 2M200 193q10 10 18 2" stroke="#2b2623" stroke-width="4" fill="none"/><ellipse cx="128" cy="320" rx="34" ry="18" fill="$b"/><ellipse cx="272" cy="320" rx="34" ry="18" fill="$b"/>"##
            }
            Self::Blocks => {
                r##"<rect x="96" y="234" width="100" height="100" rx="8" fill="$a"/><rect x="204" y="234" width="100" height="100" rx="8" fill="#d9a520"/><rect x="150" y="128" width="100" height="100" rx="8" fill="$b"/><path d="M166 122l34-60 34 60z" fill="$c"/><g fill="#fffdf8"><circle cx="146" cy="284" r="22"/><path d="M232 262h44v44h-44zM200 150l26 50h-52z"/></g>"##
            }
            Self::Ring => {
                r##"<circle cx="200" cy="226" r="86" fill="none" stroke="#d4af55" stroke-width="20"/><circle cx="200" cy="226" r="92" fill="none" stroke="#f1d998" stroke-width="4"/><path d="M158 108l22-32h40l22 32-42 50z" fill="$a"/><path d="M158 108h84l-42 50z" fill="$b"/><path d="M180 108l20 50 20-50-20-32z" fill="$c"/>"##
            }
            Self::Necklace => {
                r##"<path d="M92 74q8 172 108 186 100-14 108-186" fill="none" stroke="#d4af55" stroke-width="7"/><path d="M112 74q10 136 88 150 78-14 88-150" fill="none" stroke="#e7cb83" stroke-width="4" stroke-dasharray="2 9"/><path d="M200 256l34 36-34 44-34-44z" fill="$a"/><path d="M200 256l34 36h-68z" fill="$c"/><circle cx="200" cy="254" r="8" fill="#d4af55"/><g fill="$b"><circle cx="146" cy="224" r="9"/><circle cx="254" cy="224" r="9"/><circle cx="116" cy="176" r="7"/><circle cx="284" cy="176" r="7"/></g>"##
            }
            Self::Earrings => {
                r##"<g><path d="M136 74q0 20 0 30M264 74q0 20 0 30" stroke="#d4af55" stroke-width="6"/><circle cx="136" cy="124" r="26" fill="#d4af55"/><circle cx="264" cy="124" r="26" fill="#d4af55"/><circle cx="136" cy="124" r="13" fill="$a"/><circle cx="264" cy="124" r="13" fill="$a"/><path d="M84 250q0-92 52-96 52 4 52 96zM212 250q0-92 52-96 52 4 52 96z" fill="$a"/><path d="M84 250h104v12H84zM212 250h104v12H212z" fill="#d4af55"/><path d="M104 224h64M232 224h64" stroke="$c" stroke-width="6" stroke-dasharray="3 10"/><g fill="#d4af55"><circle cx="94" cy="276" r="9"/><circle cx="122" cy="276" r="9"/><circle cx="150" cy="276" r="9"/><circle cx="178" cy="276" r="9"/><circle cx="222" cy="276" r="9"/><circle cx="250" cy="276" r="9"/><circle cx="278" cy="276" r="9"/><circle cx="306" cy="276" r="9"/></g></g>"##
            }
            Self::Notebook => {
                r##"<path d="M120 70h166q14 0 14 14v236q0 14-14 14H120z" fill="$a"/><path d="M104 70h30v264h-30q-8 0-8-10V80q0-10 8-10z" fill="$b"/><path d="M262 70h14v264h-14z" fill="$c"/><rect x="156" y="124" width="86" height="56" rx="4" fill="#fffdf8"/><path d="M170 146h58M180 162h38" stroke="$b" stroke-width="5"/>"##
            }
            Self::Pen => {
                r##"<path d="M296 74l32 32-172 172-32-32z" fill="$a"/><path d="M296 74q14-14 30 2t2 30z" fill="$b"/><path d="M124 246l32 32-66 38q-8 2-6-6z" fill="#d4af55"/><path d="M84 318l36-36" stroke="#5d4a22" stroke-width="4"/><path d="M222 148l32 32M210 160l32 32" stroke="#d4af55" stroke-width="6"/><path d="M286 96l-84 84" stroke="$c" stroke-width="6"/>"##
            }
            Self::Card => {
                r##"<path d="M100 96l150-24 44 230-150 24z" fill="$c"/><rect x="92" y="92" width="160" height="236" rx="6" fill="#fffdf8"/><rect x="106" y="106" width="132" height="208" fill="none" stroke="$a" stroke-width="4"/><path d="M172 160q28-36 44 0 0 34-44 62-44-28-44-62 16-36 44 0z" fill="$a"/><path d="M136 258h72M148 278h48" stroke="$b" stroke-width="5"/>"##
            }
            _ => {
                r##"<rect x="110" y="110" width="180" height="224" rx="16" fill="$a"/><path d="M110 170h180" stroke="$c" stroke-width="8"/><path d="M160 110q0-50 40-50t40 50" fill="none" stroke="$b" stroke-width="10"/>"##
            }
        }
    }
}
