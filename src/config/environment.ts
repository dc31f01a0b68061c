import type { Properties } from './worker-config.ts';

const PREFIX = 'CONNECT_';
const LOG_PREFIX = 'CONNECT_LOG4J_';
const ROOT_LEVEL = 'CONNECT_LOG4J_ROOT_LOGLEVEL';

export interface EnvironmentProperties {
  readonly properties: Properties;
  /** One sentence per variable that cannot be used. */
  readonly warnings: readonly string[];
}

/**
 * Worker properties from `CONNECT_*` variables. Their names are mapped as in common images: `CONNECT_GROUP_ID` is
 * `group.id`; a double underscore is `_`, a triple one `-`. `CONNECT_LOG4J_ROOT_LOGLEVEL` sets `log.level`.
 */
export function environmentProperties(
  environment: Readonly<Record<string, string | undefined>>,
): EnvironmentProperties {
  const properties: Record<string, string> = {};
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || name === PREFIX || value === undefined) continue;
    if (name === ROOT_LEVEL) properties['log.level'] = logLevel(value);
    else if (name.startsWith(LOG_PREFIX)) warnings.push(`${name} is ignored: it configures the Java logger`);
    else properties[propertyName(name.slice(PREFIX.length))] = value;
  }
  return { properties, warnings };
}

/** `FOO_BAR__BAZ___QUX` -> `foo.bar_baz-qux`. */
function propertyName(variable: string): string {
  return variable.toLowerCase().replace(/_{1,3}/g, (run) => (run.length === 1 ? '.' : run.length === 2 ? '_' : '-'));
}

function logLevel(log4jLevel: string): string {
  const level = log4jLevel.trim().toLowerCase();
  return level === 'off' ? 'silent' : level === 'all' ? 'trace' : level;
}
