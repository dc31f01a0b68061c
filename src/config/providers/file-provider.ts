import type { Logger } from '../../observe/logger.ts';
import { AllowedPaths } from './allowed-paths.ts';
import type { ConfigProvider } from './config-provider.ts';
import { ttlMsOf } from './ttl.ts';

/** Reads the values of keys at `location`; `path` is the location as the variable names it, for messages. */
export type ReadValues = (
  location: string,
  keys: ReadonlySet<string>,
  path: string,
) => Promise<ReadonlyMap<string, string> | undefined>;

/** A provider that reads files under `allowed.paths`. Its values expire after `ttl.ms`. */
export function fileProvider(
  parameters: Readonly<Record<string, string>>,
  logger: Logger,
  read: ReadValues,
): ConfigProvider {
  const allowed = new AllowedPaths(parameters['allowed.paths']);
  const ttlMs = ttlMsOf(parameters);
  return {
    async get(path, keys) {
      if (path === '') return { values: new Map() };
      const location = allowed.resolve(path);
      if (location === undefined) logger.warn(`The path ${path} is not allowed to be accessed`);
      const values = location === undefined ? undefined : await read(location, keys, path);
      return values === undefined ? { values: new Map() } : { values, ttlMs };
    },
  };
}
