/** Points that are written to InfluxDB 1.6 and to the compatible routes. Times are whole microseconds, the precision of PostgreSQL. */
export interface InfluxCase {
  readonly name: string;
  readonly measurement: string;
  readonly writes: readonly { readonly body: string; readonly precision?: string }[];
}

const T = '1700000000000000000';
const FIELDS = Array.from({ length: 34 }, (_, index) => `f${String(index)}=${String(index)}i`);

/** One point as Telegraf sends it with `influx_max_line_bytes`: its fields in lines of four. */
const SPLIT = Array.from(
  { length: Math.ceil(FIELDS.length / 4) },
  (_, index) => `split,host=a ${FIELDS.slice(4 * index, 4 * index + 4).join(',')} ${T}`,
);

export const MERGE_CASES: readonly InfluxCase[] = [
  {
    name: 'fields of one point in two lines',
    measurement: 'mg1',
    writes: [{ body: `mg1,h=x a=1 ${T}\nmg1,h=x b=2 ${T}` }],
  },
  {
    name: 'fields of one point in two requests',
    measurement: 'mg2',
    writes: [{ body: `mg2,h=x a=1,c="kept" ${T}` }, { body: `mg2,h=x b=2 ${T}` }],
  },
  {
    name: 'a field again: the later one wins, the others stay',
    measurement: 'mg3',
    writes: [
      { body: `mg3,h=x a=1,b=t ${T}\nmg3,h=x a=2 ${T}\nmg3,h=x a=3,c=1i ${T}\nmg3,h=y a=9 ${T}` },
      { body: `mg3,h=x c=2i ${T}\nmg3,h=y b=f ${T}` },
    ],
  },
  {
    name: 'tags in another order are the same series',
    measurement: 'mg4',
    writes: [{ body: `mg4,h=x,r=e a=1 ${T}\nmg4,r=e,h=x b=2 ${T}\nmg4,h=x c=3 ${T}` }],
  },
  {
    name: 'points without tags',
    measurement: 'mg5',
    writes: [{ body: `mg5 a=1 ${T}\nmg5 b="" ${T}\nmg5 a=2 1700000000000001000` }],
  },
  { name: 'a point that Telegraf has split', measurement: 'split', writes: [{ body: SPLIT.join('\n') }] },
];

const precision = (measurement: string, unit: string | undefined, time: string): InfluxCase => ({
  name: `precision=${unit ?? '(none)'}`,
  measurement,
  writes: [{ body: `${measurement} v=1 ${time}`, ...(unit === undefined ? {} : { precision: unit }) }],
});

export const WRITE_CASES: readonly InfluxCase[] = [
  precision('p_none', undefined, T),
  precision('p_empty', '', T),
  precision('p_n', 'n', T),
  precision('p_ns', 'ns', T),
  precision('p_u', 'u', '1700000000000000'),
  precision('p_us', 'us', T),
  precision('p_mu', 'µ', T),
  precision('p_ms', 'ms', '1700000000000'),
  precision('p_s', 's', '1700000000'),
  precision('p_m', 'm', '28333333'),
  precision('p_h', 'h', '472222'),
  precision('p_auto', 'auto', T),
  precision('p_word', 'seconds', T),
  precision('p_case', 'MS', T),
  {
    name: 'escapes in strings',
    measurement: 'es',
    writes: [{ body: `es s="a\\ b\\=c\\,d\\"e\\\\f\\'g",t="plain" ${T}` }],
  },
  {
    name: 'escapes in tags and names',
    measurement: 'e t',
    writes: [{ body: `e\\ t,t=a\\ b\\=c\\,d f\\ g=1 ${T}` }],
  },
];
