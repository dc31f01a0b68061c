import assert from 'node:assert/strict';
import { declareOptions } from '../../../src/config/option.ts';
import { parseOptions, parseValue, validateOptions } from '../../../src/config/parse.ts';
import { Password } from '../../../src/config/password.ts';
import { optionText, valueText } from '../../../src/config/to-text.ts';
import { atLeast, between, distinctList } from '../../../src/config/validators.ts';

const options = declareOptions({
  host: { type: 'STRING', importance: 'HIGH', documentation: '' },
  port: { type: 'INT', default: 5432, importance: 'HIGH', documentation: '', validator: between(1, 65535) },
  ratio: {
    type: 'DOUBLE',
    default: '0.5',
    importance: 'LOW',
    documentation: '',
    validator: atLeast(0, { decimal: true }),
  },
  secret: { type: 'PASSWORD', default: null, importance: 'LOW', documentation: '' },
  topics: { type: 'LIST', default: [], importance: 'LOW', documentation: '', validator: distinctList() },
});

describe('parsing options', () => {
  it('parses each option by its type', () => {
    const parsed = parseOptions(options, { host: ' db ', port: '+5433', secret: 'hush', topics: ' a , b,a ' });
    assert.equal(parsed.host, 'db');
    assert.equal(parsed.port, 5433);
    assert.equal(parsed.ratio, 0.5);
    assert.equal(parsed.secret?.reveal(), 'hush');
    assert.deepEqual(parsed.topics, ['a', 'b']);
  });

  it('reports all missing and invalid keys together', () => {
    assert.throws(() => parseOptions(options, { port: '70000', ratio: 'half', topics: 'a,,b' }), {
      name: 'ConfigError',
      message: [
        'Missing required configuration "host" which has no default value.',
        'Invalid value 70000 for configuration port: Value must be no more than 65535',
        'Invalid value half for configuration ratio: Not a number of type DOUBLE',
        "Configuration 'topics' values must not be empty.",
      ].join('\n'),
    });
  });

  it('stops at the first invalid key if requested, like Java plugins', () => {
    assert.throws(() => parseOptions(options, { port: 'x', ratio: 'x' }, { errors: 'first' }), {
      message: 'Missing required configuration "host" which has no default value.',
    });
  });

  it('keeps 64-bit integers exact', () => {
    assert.equal(parseValue('l', 'LONG', '9007199254740993'), 9007199254740993n);
    assert.equal(parseValue('l', 'LONG', '-9223372036854775808'), -9223372036854775808n);
    assert.equal(parseValue('l', 'LONG', '60000'), 60000);
    assert.throws(() => parseValue('l', 'LONG', '9223372036854775808'), /Not a number of type LONG/);
  });

  it('parses doubles like Java', () => {
    const read = (text: string) => parseValue('d', 'DOUBLE', text);
    assert.equal(read('0x1p3'), 8);
    assert.equal(read('0x.8p1f'), 1);
    assert.equal(read('0x1.fffffffffffffp1023'), Number.MAX_VALUE);
    assert.equal(read('0x1p-1074'), Number.MIN_VALUE);
    assert.equal(read('0x0.0000000000001p-1022'), Number.MIN_VALUE);
    assert.equal(read('1.d'), 1);
    assert.equal(read('-Infinity'), -Infinity);
    for (const text of ['.', '1e', '', 'inf', '1_0']) assert.throws(() => read(text), /Not a number of type DOUBLE/);
  });

  it('accepts only existing classes if it can look them up, and returns their full names', () => {
    const findClass = (name: string) => (name === 'Json' ? 'org.example.JsonConverter' : undefined);
    assert.equal(parseValue('c', 'CLASS', ' Json ', { findClass }), 'org.example.JsonConverter');
    assert.throws(() => parseValue('c', 'CLASS', 'x.Y', { findClass }), {
      message: 'Invalid value x.Y for configuration c: Class x.Y could not be found.',
    });
  });
});

describe('validating options', () => {
  it("reports a value that cannot be parsed, and the validator's error for null", () => {
    const results = validateOptions(options, { host: 'db', port: 'x' });
    assert.deepEqual(
      results.map(({ name }) => name),
      ['host', 'port', 'ratio', 'secret', 'topics'],
    );
    assert.deepEqual(results[1], {
      name: 'port',
      value: null,
      errors: [
        'Invalid value x for configuration port: Not a number of type INT',
        'Invalid value null for configuration port: Value must be non-null',
      ],
      recommendedValues: [],
      visible: true,
    });
  });

  it('hides passwords in messages and texts', () => {
    const secret = new Password('hush');
    assert.equal(optionText(secret, 'PASSWORD'), '[hidden]');
    assert.equal(optionText('hush', 'PASSWORD'), '[hidden]');
    assert.equal(valueText([secret]), '[[hidden]]');
  });

  it('calls the recommender with all parsed values', () => {
    const declared = declareOptions({
      color: {
        type: 'STRING',
        default: 'red',
        importance: 'LOW',
        documentation: '',
        recommender: {
          validValues: (_name, parsed) => [`${String(parsed.get('shade'))} red`],
          visible: (_name, parsed) => parsed.get('shade') !== 'none',
        },
      },
      shade: { type: 'STRING', default: 'none', importance: 'LOW', documentation: '' },
    });
    const [hidden] = validateOptions(declared, {});
    assert.equal(hidden?.visible, false);
    const [shown] = validateOptions(declared, { shade: 'dark' });
    assert.deepEqual(shown, {
      name: 'color',
      value: 'red',
      errors: [],
      recommendedValues: ['dark red'],
      visible: true,
    });
  });
});
