import { ConfigError } from '../errors.ts';

/** A login module and its options, which include secrets. */
export interface JaasConfig {
  readonly module: string;
  readonly options: Readonly<Record<string, string>>;
}

/**
 * Parses `module flag key="value" key=value …;` (org.apache.kafka.common.security.JaasConfig). Error messages never quote the
 * configuration, because it contains passwords.
 */
export function parseJaas(text: string, source = 'sasl.jaas.config'): JaasConfig {
  const tokens = text.match(/"[^"\\]*(?:\\.[^"\\]*)*\\?"?|[^\s=;"]+|[=;]/gs) ?? [];
  const [module, flag] = tokens;
  if (module === undefined || flag === undefined || !/^(required|requisite|sufficient|optional)$/i.test(flag)) {
    throw new ConfigError(`Invalid JAAS configuration in ${source}: expected a login module and a control flag`);
  }
  const options: Record<string, string> = {};
  let index = 2;
  while (index < tokens.length && tokens[index] !== ';') {
    const [key, equals, value] = tokens.slice(index, index + 3);
    if (key === undefined || equals !== '=' || value === undefined || value === ';' || value === '=') {
      throw new ConfigError(`Invalid JAAS configuration in ${source}: expected key=value after the control flag`);
    }
    options[key] = value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
    index += 3;
  }
  if (tokens[index] !== ';') {
    throw new ConfigError(`Invalid JAAS configuration in ${source}: the entry does not end with a semicolon`);
  }
  return { module, options };
}
