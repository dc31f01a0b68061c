import { createRequire } from 'node:module';
import { ConfigError, toError } from '../../errors.ts';

const load = createRequire(import.meta.url);

/** A package that only some need, loaded at the first use. Throws a ConfigError that says who needs it and what helps. */
export function loadOptional(name: string, user: string): unknown {
  try {
    return load(name);
  } catch (error) {
    const [reason] = toError(error).message.split('\n', 1);
    throw new ConfigError(
      `${user} needs the optional package "${name}", which could not be loaded (${reason ?? ''}): npm install ${name}`,
      { cause: error },
    );
  }
}
