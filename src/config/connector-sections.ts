import { javaHashMapOrder } from '../java/java-hash-order.ts';
import type { ValidatedSection } from './config-values.ts';
import type { OptionDeclarations, OptionResult } from './option.ts';
import { validateOptions, type RawConfig } from './parse.ts';
import { healthSection } from './health-options.ts';
import { rateLimitSection } from './rate-limit-options.ts';
import { classFinder, type ChoiceKind } from './plugin-choices.ts';
import { connectorOptionsFor, converterMismatch, type ConnectorSurroundings } from './plugin-options.ts';
import { restartSection } from './restart-options.ts';
import { taskThreadSection } from './task-thread-options.ts';

const CONVERTERS: readonly { readonly option: string; readonly kind: ChoiceKind; readonly type: string }[] = [
  { option: 'key.converter', kind: 'converter', type: 'key' },
  { option: 'value.converter', kind: 'converter', type: 'value' },
  { option: 'header.converter', kind: 'header_converter', type: 'header' },
];

/**
 * A connector's configuration checked against every declaration that applies to it, in the order of Connect's answer:
 * Connect's own options with those of transformations and predicates, the connector's, then those of converters that
 * the connector names itself, at last those of threads that are set.
 */
export function validateConnectorSections(config: RawConfig, surroundings: ConnectorSurroundings): ValidatedSection[] {
  const findClass = classFinder(surroundings.plugins);
  const base = connectorOptionsFor(config, surroundings);
  const own = surroundings.connector.options;
  return [
    { declarations: base, results: validateOptions(base, config, { findClass }) },
    { declarations: own, results: visibleResults(own, validateOptions(own, config)) },
    ...CONVERTERS.flatMap((converter) => converterSection(converter, config, surroundings)),
    taskThreadSection(config),
    healthSection(config),
    rateLimitSection(config),
    restartSection(config),
  ];
}

function visibleResults(declarations: OptionDeclarations, results: readonly OptionResult[]): readonly OptionResult[] {
  return results.filter(({ name }) => declarations[name]?.internal !== true);
}

/** In the order of Java's map. Messages of this section name keys without their prefix, as the converter itself does. */
function converterSection(
  { option, kind, type }: (typeof CONVERTERS)[number],
  config: RawConfig,
  { plugins }: ConnectorSurroundings,
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
