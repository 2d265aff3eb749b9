// The values of facets: those that an answer counted, and the rest of them when they are asked for.

/** Most values of a facet that are asked for at once. */
const VALUES_MAX = 500;

/** What the last answer said of facets. */
let told = [];
const labels = new Map();
const key = (name, value) => `${name}\n${value}`;

/** What was asked for of the last answer's facets besides, by facet. */
const rest = new Map();
let askFor = async () => null;
/** Names what asks the last question once more, for its facets alone. */
export const askValuesBy = (ask) => { askFor = ask; };

function nameThem(facets) {
  for (const { name, values } of facets) for (const { value, label } of values) if (label) labels.set(key(name, value), label);
}

/** Takes what an answer says of facets. */
export function takeValues(facets) {
  told = facets;
  rest.clear();
  nameThem(told);
}

/** What a value is called, as far as any answer said. */
export const valueName = (name, value) => labels.get(key(name, value)) ?? value;

/** The facets, each with `total`, how many values it has, and `values`, those that are known or were looked for. */
export const facets = () => told.map((facet) => ({ total: facet.values_total ?? facet.values.length, ...facet, ...rest.get(facet.name) }));
export const facet = (name) => facets().find((one) => one.name === name);

const matching = (values, typed) => values.filter(({ value, label }) => (label ?? value).toLowerCase().includes(typed.toLowerCase()));

/** Finds values of a facet: all of them, or those that a text is typed of. */
export async function findValues(name, typed, draw) {
  const before = facet(name);
  if (!before) return;
  const known = told.find((one) => one.name === name);
  const all = rest.get(name)?.all ?? (before.total <= known.values.length ? known.values : null);
  if (all) {
    rest.set(name, { all, typed, values: matching(all, typed) });
    return draw();
  }
  const answered = await askFor({ facet_values_max: VALUES_MAX, ...(typed ? { facet_query: typed } : {}) }).catch(() => null);
  const found = answered?.find((one) => one.name === name);
  if (!answered || !told.includes(known)) return;
  const values = found?.values ?? [];
  nameThem(found ? [found] : []);
  rest.set(name, { typed, values, ...(!typed && values.length >= before.total ? { all: values } : {}) });
  draw();
}
