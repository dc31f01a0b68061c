import { javaHashMapOrder } from '../java/java-hash-order.ts';
import type { ValidatedSection } from './config-values.ts';
import type { OptionDeclarations, OptionResult } from './option.ts';
import { validateOptions, type RawConfig } from './parse.ts';
import { healthOptions } from './health-options.ts';
import { rateLimitOptions } from './rate-limit-options.ts';
import { classFinder, type ChoiceKind } from './plugin-choices.ts';
import { connectorOptionsFor, converterMismatch, type ConnectorContext } from './plugin-options.ts';
import { sourceErrorOptions } from './source-error-options.ts';
import { restartOptions } from './restart-options.ts';
import { taskThreadOptions, withHeapCheck } from './task-thread-options.ts';

const CONVERTERS: readonly { readonly option: string; readonly kind: ChoiceKind; readonly type: string }[] = [
  { option: 'key.converter', kind: 'converter', type: 'key' },
  { option: 'value.converter', kind: 'converter', type: 'value' },
  { option: 'header.converter', kind: 'header_converter', type: 'header' },
];

/** Connector options that Kafka Connect does not have. */
const OWN_OPTIONS: readonly OptionDeclarations[] = [taskThreadOptions, healthOptions, rateLimitOptions, restartOptions];
const OWN_SOURCE_OPTIONS: readonly OptionDeclarations[] = [...OWN_OPTIONS, sourceErrorOptions];

/**
 * The options that a validation lists. `connect`: as in Kafka Connect; Connect's own options have no recommended values
 * for closed sets, and options that Connect does not have are listed only if they are set. `all`: lists all options and
 * recommends the values of all closed sets.
 */
export type ListedOptions = 'connect' | 'all';

/**
 * Validates a connector's configuration against all applicable declarations. The sections are in the order of Connect's
 * response: Connect's own options with those of transformations and predicates; the options of the connector; those of
 * converters that the connector names itself; and those that Kafka Connect does not have.
 */
export function validateConnectorSections(
  config: RawConfig,
  context: ConnectorContext,
  listed: ListedOptions = 'connect',
): ValidatedSection[] {
  const findClass = classFinder(context.plugins);
  const base = connectorOptionsFor(config, context);
  const own = context.connector.options;
  const ofConnect = (section: ValidatedSection) => (listed === 'all' ? withChoices(section) : section);
  return [
    ofConnect({ declarations: base, results: validateOptions(base, config, { findClass }) }),
    withChoices({ declarations: own, results: visibleResults(own, validateOptions(own, config)) }),
    ...CONVERTERS.flatMap((converter) => converterSection(converter, config, context)).map(ofConnect),
    ...(context.type === 'source' ? OWN_SOURCE_OPTIONS : OWN_OPTIONS).map((declarations) =>
      withChoices(ownSection(declarations, config, listed)),
    ),
  ];
}

function ownSection(declarations: OptionDeclarations, config: RawConfig, listed: ListedOptions): ValidatedSection {
  const results = withHeapCheck(validateOptions(declarations, config), config);
  return { declarations, results: results.filter(({ name }) => listed === 'all' || config[name] !== undefined) };
}

/** Recommends the choices of the validators. The recommender of an option takes precedence. */
function withChoices({ declarations, results }: ValidatedSection): ValidatedSection {
  return {
    declarations,
    results: results.map((result) => {
      const { recommender, validator } = declarations[result.name] ?? {};
      if (recommender !== undefined || validator?.choices === undefined) return result;
      return { ...result, recommendedValues: validator.choices };
    }),
  };
}

function visibleResults(declarations: OptionDeclarations, results: readonly OptionResult[]): readonly OptionResult[] {
  return results.filter(({ name }) => declarations[name]?.internal !== true);
}

/**
 * The options are in the order of Java's HashMap. Messages name keys without the prefix, as the converter itself does.
 */
function converterSection(
  { option, kind, type }: (typeof CONVERTERS)[number],
  config: RawConfig,
  { plugins }: ConnectorContext,
): ValidatedSection[] {
  const className = config[option]?.trim();
  const wanted = config[`${option}.plugin.version`] ?? undefined;
  const plugin = className === undefined ? undefined : plugins.tryFind(kind, className, wanted);
  if (plugin === undefined || converterMismatch(option, kind, config, plugins) !== undefined) return [];
  const prefix = `${option}.`;
  const given = Object.entries(config).filter(([key]) => key.startsWith(prefix));
  const sub = Object.fromEntries(given.map(([key, value]) => [key.slice(prefix.length), value]));
  const shown = Object.entries(plugin.options).filter(([, declaration]) => declaration.internal !== true);
  const declarations = Object.fromEntries(
    shown.map(([name, declaration]) => [
      `${prefix}${name}`,
      { ...declaration, displayName: declaration.displayName ?? name },
    ]),
  );
  const results = validateOptions(Object.fromEntries(shown), { ...sub, 'converter.type': type });
  const byName = new Map(results.map((result) => [result.name, { ...result, name: `${prefix}${result.name}` }]));
  return [{ declarations, results: javaHashMapOrder([...byName.keys()]).flatMap((name) => byName.get(name) ?? []) }];
}
