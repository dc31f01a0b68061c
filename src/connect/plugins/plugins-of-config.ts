import { listEntries } from '../../config/list-text.ts';
import type { ChoiceKind } from '../../config/plugin-choices.ts';
import type { ConnectorConfig } from '../api.ts';

/** A plugin that a configuration names. */
export interface NamedPlugin {
  readonly kind: ChoiceKind;
  readonly name: string;
  /** Prefix of the names of its options. */
  readonly prefix: string;
  /** A version or a range of versions; absent for the newest version. */
  readonly wanted: string | undefined;
}

const CLASS_OPTIONS: readonly (readonly [option: string, kind: ChoiceKind, versionOption: string])[] = [
  ['connector.class', 'connector', 'connector.plugin.version'],
  ['key.converter', 'converter', 'key.converter.plugin.version'],
  ['value.converter', 'converter', 'value.converter.plugin.version'],
  ['header.converter', 'header_converter', 'header.converter.plugin.version'],
];
const ALIASED = [
  ['transforms', 'transformation'],
  ['predicates', 'predicate'],
] as const;

/** Returns the plugins that a connector's configuration or the worker's own configuration names. */
export function pluginsOf(config: ConnectorConfig): NamedPlugin[] {
  const options = [
    ...CLASS_OPTIONS,
    ...ALIASED.flatMap(([family, kind]) =>
      [...new Set(listEntries(config[family]))].map(
        (alias) => [`${family}.${alias}.type`, kind, `${family}.${alias}.plugin.version`] as const,
      ),
    ),
  ];
  return options.flatMap(([option, kind, versionOption]) => {
    const name = config[option]?.trim() ?? '';
    const prefix = kind === 'connector' ? '' : `${option.replace(/\.type$/, '')}.`;
    return name === '' ? [] : [{ kind, name, prefix, wanted: wantedVersion(config, versionOption) }];
  });
}

/** Returns the version that an option `….plugin.version` requests. `latest` or no value requests the newest version. */
export function wantedVersion(config: Readonly<Record<string, string | null | undefined>>, option: string) {
  const text = config[option]?.trim() ?? '';
  return text === '' || text === 'latest' ? undefined : text;
}
