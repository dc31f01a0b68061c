/** A kind of text that scanners are slow with, in any length. */
export interface WorstText {
  readonly name: string;
  readonly of: (length: number) => string;
}

export const CHARACTERS = [
  ...[' ', '\t', '\n', '\r', '0', '1', '9', 'a', 'A', 'e', 'E', '_', '.', '-', '+', '*', '/', '\\', '"', "'", '`'],
  ...['(', ')', '[', ']', '{', '}', '<', '>', ',', ';', ':', '=', '$', '#', '%', '&', '|', '!', '?', '@', '~', '^'],
  ...['\0', '\u00a0', 'é', '٣', '\u2028', '\ud83d', '😀'],
];

/** Openers that nest, quotes and escapes that never end, separators, and the beginnings of what the languages here know. */
export const PIECES = [
  ...['\\"', "\\'", '\\\\', '""', "''", '"a', "'a", '${', '${:', '${a:b', '$a$', '$$', '/*', '*/', '--', '//', '\r\n'],
  ...[
    '{"',
    '{"a":',
    '[{',
    '[[',
    '["',
    '":',
    '",',
    '},',
    '],',
    '{}',
    '[]',
    '[],',
    '{},',
    '()',
    '(1,',
    '(select ',
    '\\u',
  ],
  ...[
    'a=',
    'a,',
    'a;',
    'a.',
    'a:',
    'a ',
    ' a',
    ', ',
    ' ,',
    '= ',
    ' =',
    '1 ',
    ' 1',
    '1,',
    '1.',
    '.1',
    '1e',
    '1-',
    '-1:',
  ],
  ...['a=1,', ',a=1', 'a=1 ', 'a b\n', 'a f=1\n', 'put ', 'm 1 1 a=b\n', '"a";', 'x;', "E'", "N'a'\n", 'U&"', 'B'],
  ...[
    '%41',
    '%',
    'a&',
    '&a=',
    '://',
    '@',
    '<a>',
    'case ',
    'begin ',
    'end ',
    'and ',
    'or ',
    'not ',
    'select ',
    'x+',
    '+-',
  ],
  ...[
    '1::',
    '::a',
    '(?:',
    '(a',
    'a|',
    'a*',
    'a?',
    'a+',
    '[a',
    '[^',
    '\\Q',
    '(?<=',
    'a{1,',
    '\\p{',
    '(a*)*',
    '.*',
    "'y",
  ],
  ...['\ud83d ', 'é ', 'a\u0301', '2024-', '12:', '00:00 ', 'GMT', 'y', 'null,', 'true,', '"a":1,', '{"a":1},', '`a`.'],
  ...['first(', 'last(power),', "time_bucket(ts, '1h'),", 'time_bucket(', 'power,', '1h ', '1h,'],
];

function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length));
}

/** One piece again and again. */
export const RUNS: readonly WorstText[] = [...CHARACTERS, ...PIECES].map((piece) => ({
  name: `${JSON.stringify(piece)} again and again`,
  of: (length) => repeated(piece, length),
}));

/** Text before a run, so that a scanner takes the run for a known token, and text after it, which proves that wrong. */
const FRAMES = [
  ['A', '!'],
  ['1', 'x'],
  ['"', '"'],
  ["'", "'"],
  ['"', ''],
  ['{"a":"', '"}'],
  ['{"a":', '}'],
  ['[', ']'],
  ['(', ')'],
  ['${', '}'],
  ['a b=', ''],
  ['a,b=', ' c=1'],
  ['insert into t values (', ')'],
  ['select ', ' from t'],
] as const;

export const FRAMED_RUNS: readonly WorstText[] = FRAMES.flatMap(([before, after]) =>
  [...CHARACTERS, ...PIECES].map((piece) => ({
    name: `${JSON.stringify(piece)} again and again between ${JSON.stringify(before)} and ${JSON.stringify(after)}`,
    of: (length: number) => before + repeated(piece, length) + after,
  })),
);

/** The framed runs that cost most when a scanner restarts at each of their characters. */
export const SOME_FRAMED_RUNS: readonly WorstText[] = [' ', '0', 'a', '"', '\\"', '(', '[', ',', '${:'].flatMap(
  (piece) =>
    [
      ['A', '!'],
      ['1', 'x'],
    ].map(([before = '', after = '']) => ({
      name: `${JSON.stringify(piece)} again and again between ${before} and ${after}`,
      of: (length: number) => before + repeated(piece, length) + after,
    })),
);
