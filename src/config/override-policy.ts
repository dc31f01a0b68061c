import { ConfigError } from '../errors.ts';

/** Which client settings connectors may override (`connector.client.config.override.policy`). */
export interface OverridePolicy {
  /** As its texts name it. */
  readonly name: 'All' | 'None' | 'Principal' | 'Allowlist';
  /** `setting` without `producer.override.` and its like. */
  allows(setting: string): boolean;
}

const PRINCIPAL: ReadonlySet<string> = new Set(['sasl.jaas.config', 'sasl.mechanism', 'security.protocol']);
const CLASS = /^(?:org\.apache\.kafka\.connect\.connector\.policy\.)?(\w+)ConnectorClientConfigOverridePolicy$/;

/** By short or full class name. Throws a ConfigError for a policy that there is not. */
export function overridePolicy(given: string, allowlist: readonly string[]): OverridePolicy {
  const name = CLASS.exec(given)?.[1] ?? given;
  switch (name) {
    case 'All':
      return { name, allows: () => true };
    case 'None':
      return { name, allows: () => false };
    case 'Principal':
      return { name, allows: (setting) => PRINCIPAL.has(setting) };
    case 'Allowlist': {
      const allowed = new Set(allowlist);
      return { name, allows: (setting) => allowed.has(setting) };
    }
  }
  throw new ConfigError(
    `Failed to find any class that implements interface org.apache.kafka.connect.connector.policy.ConnectorClientConfigOverridePolicy and which name matches ${given}, available ones are: All, None, Principal, Allowlist`,
  );
}

/** Why a setting may not be overridden; `undefined` when it may. */
export function overrideError(policy: OverridePolicy, setting: string): string | undefined {
  if (policy.allows(setting)) return undefined;
  return `The '${policy.name}' policy does not allow '${setting}' to be overridden in the connector configuration.`;
}
