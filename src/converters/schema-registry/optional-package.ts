import { createRequire } from 'node:module';
import { ConfigError, toError } from '../../errors.ts';

const load = createRequire(import.meta.url);

/** Loads an optional package. Throws a ConfigError that names the user of the package and how to install it. */
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
