import { builtInPlugins } from './built-in-plugins.ts';
import { openPluginPath } from '../connect/plugins/path/plugin-path.ts';
import { scanPluginPath } from '../connect/plugins/path/scan.ts';
import { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { toError } from '../errors.ts';
import { silentLogger } from '../observe/logger.ts';

/**
 * Returns one line per plugin, `type class version location`, in the order of `GET /connector-plugins`, followed by the problems
 * of packages and plugins. Loads all plugins.
 */
export async function listPlugins(pluginPath: readonly string[]): Promise<string[]> {
  const { registry, problems } = await tryPlugins(pluginPath);
  const rows = registry.all().map(({ type, className, version, location }) => [type, className, version, location]);
  return [...inColumns(rows), ...problems.map((problem) => `warning: ${problem}`)];
}

/** Returns the number of plugins in the folders, and the problems of packages and plugins. */
export async function pluginProblems(
  pluginPath: readonly string[],
): Promise<{ readonly count: number; readonly problems: readonly string[] }> {
  const { external, problems } = await tryPlugins(pluginPath);
  return { count: external.length, problems };
}

async function tryPlugins(pluginPath: readonly string[]) {
  const { plugins: external } = await openPluginPath(pluginPath, silentLogger);
  const registry = new PluginRegistry(await builtInPlugins({ strictJson: false }), external);
  const { warnings } = await scanPluginPath(pluginPath);
  const hidden = registry.hidden.map(
    ({ className, version, location }) =>
      `${className} ${version} in ${location} is ignored: a plugin with this class and version already exists`,
  );
  const broken = await Promise.all(external.map(async (plugin) => plugin.load().then(() => [], problemOf)));
  return { registry, external, problems: [...warnings, ...hidden, ...broken.flat()] };
}

function problemOf(error: unknown): string[] {
  return [toError(error).message];
}

function inColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
