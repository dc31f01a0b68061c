import assert from 'node:assert/strict';
import {
  commonConnectorOptions,
  sinkConnectorOptions,
  sourceConnectorOptions,
} from '../../src/config/connector-options.ts';
import { converterPlugins } from '../../src/converters/registry.ts';
import { predicatePlugins } from '../../src/transforms/predicates/registry.ts';
import { transformationPlugins } from '../../src/transforms/registry.ts';
import type { OptionDeclaration, OptionDeclarations, OptionType, Validator } from '../../src/config/option.ts';
import { orderInGroup } from '../../src/config/config-values.ts';
import { checkDeclarations, defaultValue, parseOptions, validateOptions } from '../../src/config/parse.ts';
import { Password } from '../../src/config/password.ts';
import { optionText } from '../../src/config/to-text.ts';
import * as validators from '../../src/config/validators.ts';
import { doubleText } from '../../src/java/java-number-text.ts';
import {
  assertGoldenError,
  checkCases,
  readGolden,
  type GoldenError,
  type Json,
  type JsonObject,
} from './golden-data.ts';

interface ConfigCase {
  readonly id: string;
  readonly type: OptionType;
  readonly validator?: JsonObject;
  readonly default?: string | null;
  readonly raw?: string | null;
  readonly validator_string?: string;
  readonly phase: 'define' | 'parse';
  readonly output: { readonly parsed?: Json; readonly string?: string | null; readonly error?: GoldenError };
  readonly validate?: { readonly value: Json; readonly errors: readonly string[] };
}

interface GoldenKey {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default_string?: string | null;
  readonly importance: string;
  readonly group: string | null;
  readonly order_in_group: number;
  readonly width: string;
  readonly display_name: string;
  readonly dependents: readonly string[];
  readonly has_recommender: boolean;
  readonly validator: string | null;
}

interface Definition {
  readonly keys: readonly GoldenKey[];
  readonly groups: readonly string[];
}

interface ConfigDefFile {
  readonly definitions: Readonly<Record<string, Definition>>;
  readonly cases: readonly ConfigCase[];
}

const KNOWN_CLASSES = /^(java\.lang\.[A-Z]\w*|org\.apache\.kafka\.connect\.[\w.$]+)$/;
const findClass = (name: string) => (KNOWN_CLASSES.test(name) ? name : undefined);

function validator(spec: JsonObject): Validator {
  const [kind = '', content = null] = Object.entries(spec)[0] ?? [];
  const texts = content as string[];
  const [first = true, second = false] = Array.isArray(content) ? (content as boolean[]) : [];
  switch (kind) {
    case 'between':
      return validators.between(...(content as [number, number]));
    case 'atLeast':
      return validators.atLeast(content as number);
    case 'validString':
      return validators.oneOf(...texts);
    case 'caseInsensitiveValidString':
      return validators.oneOfIgnoringCase(...texts);
    case 'nonEmptyString':
      return validators.nonEmptyString;
    case 'nonNull':
      return validators.nonNull;
    case 'nonEmptyStringWithoutControlChars':
      return validators.nonEmptyStringWithoutControlChars;
    case 'validListIn':
      return validators.listOf(texts);
    case 'validListInNonEmpty':
      return validators.listOf(texts, { emptyAllowed: false });
    case 'anyNonDuplicate':
      return validators.distinctList({ emptyAllowed: first, nullAllowed: second });
    case 'listSizeAtMost':
      return validators.listSizeAtMost(content as number);
    case 'composite':
      return validators.composite(...(content as JsonObject[]).map(validator));
  }
  throw new Error(`no such validator: ${kind}`);
}

function encode(value: unknown, type: OptionType): Json {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return { array: value as string[] };
  if (value instanceof Password) return { password: value.reveal() };
  if (typeof value === 'boolean') return value;
  switch (type) {
    case 'INT':
      return { int32: Number(value) };
    case 'SHORT':
      return { int16: Number(value) };
    case 'LONG':
      return { int64: (value as number | bigint).toString() };
    case 'DOUBLE':
      return { float64: doubleText(value as number) };
    case 'CLASS':
      return { class: value as string };
    default:
      return value as string;
  }
}

function declaration(golden: ConfigCase): OptionDeclaration {
  return {
    type: golden.type,
    importance: 'HIGH',
    documentation: '',
    ...('default' in golden ? { default: golden.default ?? null } : {}),
    ...(golden.validator === undefined ? {} : { validator: validator(golden.validator) }),
  };
}

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

function checkCase(golden: ConfigCase): void {
  const declarations: OptionDeclarations = { cfg: declaration(golden) };
  if (golden.phase === 'define') {
    assert.ok(golden.output.error);
    assertGoldenError(
      thrownBy(() => checkDeclarations(declarations)),
      golden.output.error,
    );
    return;
  }
  checkDeclarations(declarations);
  const config = 'raw' in golden ? { cfg: golden.raw ?? null } : {};
  const settings = { findClass };
  if (golden.output.error !== undefined) {
    assertGoldenError(
      thrownBy(() => parseOptions(declarations, config, settings)),
      golden.output.error,
    );
  } else {
    const { cfg } = parseOptions(declarations, config, settings) as { cfg: unknown };
    assert.deepEqual(encode(cfg, golden.type), golden.output.parsed);
    assert.equal(optionText(cfg, golden.type), golden.output.string);
  }
  if (golden.validator_string !== undefined)
    assert.equal(declarations['cfg']?.validator?.text, golden.validator_string);
  const [result] = validateOptions(declarations, config, settings);
  assert.ok(result);
  assert.deepEqual({ value: encode(result.value, golden.type), errors: result.errors }, golden.validate);
}

const OURS: Readonly<Record<string, OptionDeclarations>> = {
  ConnectorConfig: commonConnectorOptions,
  SinkConnectorConfig: sinkConnectorOptions,
  SourceConnectorConfig: sourceConnectorOptions,
  ...Object.fromEntries(
    [...converterPlugins(), ...transformationPlugins, ...predicatePlugins].map(({ className, options }) => [
      className.replace(/\$(Key|Value)$/, ''),
      options,
    ]),
  ),
};

/** The definition of a key, without its documentation and without values that only installed plugins can add. */
function comparable(name: string, declarations: OptionDeclarations): Partial<GoldenKey> {
  const option = declarations[name];
  assert.ok(option, name);
  return {
    name,
    type: option.type,
    required: option.default === undefined,
    ...(option.default === undefined ? {} : { default_string: optionText(defaultValue(name, option), option.type) }),
    importance: option.importance,
    group: option.group ?? null,
    order_in_group: orderInGroup(name, declarations),
    width: option.width ?? 'NONE',
    display_name: option.displayName ?? name,
    dependents: option.dependents ?? [],
    validator: option.validator?.text ?? null,
  };
}

describe('options, against the cases recorded from the Java classes', () => {
  const file = readGolden<ConfigDefFile>('connect-data/config-def.json');

  it('parse and validate as Connect does', function () {
    if (file === undefined) return this.skip();
    checkCases('config-def', file.cases, {}, checkCase);
  });

  it("declare Connect's own keys as Connect does", function () {
    if (file === undefined) return this.skip();
    const missing = Object.keys(file.definitions).filter((name) => OURS[name] === undefined);
    const compared = Object.keys(OURS).filter((name) => file.definitions[name] !== undefined);
    console.log(`      definitions: ${String(compared.length)} compared; not here: ${missing.join(', ')}`);
    for (const definition of compared) {
      const declarations = OURS[definition] ?? {};
      const golden: Definition | undefined = file.definitions[definition];
      assert.ok(golden, definition);
      const expected: unknown[] = golden.keys.map(withoutOpaque);
      const names = Object.keys(declarations).filter((name) => declarations[name]?.internal !== true);
      assert.deepEqual(
        names,
        golden.keys.map((key) => key.name),
      );
      assert.deepEqual(
        names.map((name) => withoutOpaque(comparable(name, declarations))),
        expected,
      );
      assert.deepEqual([...new Set(names.flatMap((name) => declarations[name]?.group ?? []))], golden.groups);
    }
  });
});

/** Validators without a text of their own come from the installed plugins; so they are compared elsewhere. */
function withoutOpaque(key: Partial<GoldenKey>): unknown {
  const copy: Record<string, unknown> = { ...key, validator: key.validator === '(opaque)' ? null : key.validator };
  for (const name of ['internal', 'default', 'has_recommender']) delete copy[name];
  return copy;
}
