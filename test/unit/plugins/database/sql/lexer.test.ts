import assert from 'node:assert/strict';
import { type Token, tokenize } from '../../../../../plugins/database/sql/lexer.ts';
import { foldName, integerText, nameOf, stringValue } from '../../../../../plugins/database/sql/token-text.ts';
import { cpuMsOf } from '../../../../support/cpu-time.ts';

/** `kind:source`, with `!` after a token that the end of the text cut off. */
function tokens(text: string): string[] {
  return tokenize(text).map(
    ({ kind, start, end, unterminated }) => `${kind}:${text.slice(start, end)}${unterminated ? '!' : ''}`,
  );
}

function only(text: string): Token {
  const [token, ...more] = tokenize(text);
  assert.ok(token !== undefined && more.length === 0, `not one token: ${text}`);
  return token;
}

describe('the SQL lexer', () => {
  it('keeps quotes of every kind whole', () => {
    assert.deepEqual(tokens(`'a''b' E'a\\'b' U&'\\0041' N'x' B'01' x'1f' "a""b" U&"x"`), [
      `string:'a''b'`,
      `string:E'a\\'b'`,
      `string:U&'\\0041'`,
      `string:N'x'`,
      `bits:B'01'`,
      `bits:x'1f'`,
      `quoted:"a""b"`,
      `quoted:U&"x"`,
    ]);
  });

  it('keeps dollar quotes whole and tells them from parameters and names', () => {
    assert.deepEqual(tokens(`$$a'b$$ $x$ $$;$y$ $x$ $1 a$b$c $1a $`), [
      `string:$$a'b$$`,
      'string:$x$ $$;$y$ $x$',
      'parameter:$1',
      'word:a$b$c',
      'parameter:$1a',
      'other:$',
    ]);
  });

  it('continues a string on another line in the same mode', () => {
    assert.deepEqual(tokens(`'a'\n  'b' E'a' -- c\n'\\'' 'x' 'y'`), [
      `string:'a'\n  'b'`,
      `string:E'a' -- c\n'\\''`,
      `string:'x'`,
      `string:'y'`,
    ]);
  });

  it('skips comments, nested ones too', () => {
    assert.deepEqual(tokens('a -- ; \' \n/* ; /* " */ */ b--'), ['word:a', 'word:b']);
  });

  it('reads numbers with fractions, exponents and units', () => {
    assert.deepEqual(tokens('1 1.5 .5 1.e5 1e-3 10d 0xFF 1_000 1..2 1e'), [
      ...[
        'number:1',
        'number:1.5',
        'number:.5',
        'number:1.e5',
        'number:1e-3',
        'number:10d',
        'number:0xFF',
        'number:1_000',
      ],
      ...['number:1', 'punctuation:..', 'number:2', 'number:1e'],
    ]);
  });

  it('ends operators where PostgreSQL ends them', () => {
    assert.deepEqual(tokens('a=-1 b<>c d@-1 e*+-f g<--h\n=i /*'), [
      ...['word:a', 'operator:=', 'operator:-', 'number:1', 'word:b', 'operator:<>', 'word:c', 'word:d', 'operator:@-'],
      ...['number:1', 'word:e', 'operator:*', 'operator:+', 'operator:-', 'word:f', 'word:g', 'operator:<'],
      ...['operator:=', 'word:i', 'comment:/*!'],
    ]);
  });

  it('marks tokens that the end of the text cuts off', () => {
    for (const text of [`'a`, `E'a\\'`, '"a', '$$a', '$x$ $$', '/* /* */', `U&'`, `B'`]) {
      assert.deepEqual(
        tokenize(text).map(({ start, end, unterminated }) => [start, end, unterminated]),
        [[0, text.length, true]],
        text,
      );
    }
  });

  it('takes time in proportion to the text, whatever it contains', () => {
    const row = `INSERT INTO m (ts, v) VALUES (1700000000000, 12.5, 'b -- x; y'), (now(), -1e5, "h;b") /* c */;\n`;
    for (const piece of [
      row,
      '+',
      '+-*',
      "'a'\n",
      '$a',
      '/*',
      '$a$ ',
      "E'\\",
      '( /* ',
      '@+',
      '"',
      "''",
      '--',
      '.',
      'a.',
    ]) {
      const text = piece.repeat(Math.ceil(250_000 / piece.length));
      let bestMs = Infinity;
      for (let run = 0; run < 5 && bestMs > 500; run++) {
        bestMs = Math.min(
          bestMs,
          cpuMsOf(() => void tokenize(text)),
        );
      }
      // 5 to 20 ms on the machine this was written on; a quadratic lexer takes minutes.
      assert.ok(bestMs < 500, `250 kB of ${JSON.stringify(piece.slice(0, 10))} took ${bestMs.toFixed(0)} ms`);
    }
  });
});

describe('the value of a token', () => {
  it('is the text of strings with escapes and dollar quotes', () => {
    for (const [source, text] of [
      [`'it''s'`, "it's"],
      [`E'a\\n\\'\\\\\\x41\\u00e9\\101'''`, "a\n'\\AéA'"],
      [`N'x'`, 'x'],
      ['$$a$$', 'a'],
      ['$t$a$$b$t$', 'a$$b'],
    ] as const) {
      assert.equal(stringValue(source, only(source)), text, source);
    }
  });

  it('is unknown if it depends on the encoding, on UESCAPE or on a second line', () => {
    for (const source of [`E'\\xff'`, `E'\\0'`, `U&'a'`, `'a'\n'b'`, `E'a'\n'b'`, '1', 'a']) {
      assert.equal(stringValue(source, only(source)), undefined, source);
    }
    assert.equal(nameOf('U&"a"', only('U&"a"')), undefined);
  });

  it('is a name folded in ASCII only', () => {
    assert.equal(nameOf('MeterÉ', only('MeterÉ')), 'meterÉ');
    assert.equal(foldName('İX'), 'İx');
  });

  it('is an integer only without fraction, exponent and letters', () => {
    assert.equal(integerText('1_000', only('1_000')), '1000');
    for (const source of ['1.0', '1e3', '10d', '0x1', '$1']) assert.equal(integerText(source, only(source)), undefined);
  });
});
