import { ConfigError } from '../errors.ts';

/** Determines which client settings connectors may override (`connector.client.config.override.policy`). */
export interface OverridePolicy {
  /** Name in error messages. */
  readonly name: 'All' | 'None' | 'Principal' | 'Allowlist';
  /** `setting` without a prefix such as `producer.override.`. */
  allows(setting: string): boolean;
}

const PRINCIPAL: ReadonlySet<string> = new Set(['sasl.jaas.config', 'sasl.mechanism', 'security.protocol']);
const CLASS = /^(?:org\.apache\.kafka\.connect\.connector\.policy\.)?(\w+)ConnectorClientConfigOverridePolicy$/;

/** Finds a policy by short or full class name. Throws a ConfigError if it does not exist. */
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

/** The error message if a setting must not be overridden. */
export function overrideError(policy: OverridePolicy, setting: string): string | undefined {
  if (policy.allows(setting)) return undefined;
  return `The '${policy.name}' policy does not allow '${setting}' to be overridden in the connector configuration.`;
}
