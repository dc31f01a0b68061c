import type { ConfigKeyInfo, PluginInfo } from '../common/answers.ts';

const KINDS = ['sink', 'source', 'converter', 'header_converter', 'transformation', 'predicate'];

/** Returns the plugins whose class, type and version contain all words of the text, by type in the order of `KINDS`, then by class. */
export function matchingPlugins(plugins: readonly PluginInfo[], text: string): readonly PluginInfo[] {
  const rank = ({ type }: PluginInfo): number => (KINDS.indexOf(type) + 1 || KINDS.length + 1) - 1;
  return plugins
    .filter((plugin) => hasWords(`${plugin.class} ${plugin.type} ${plugin.version ?? ''}`, text))
    .sort((a, b) => rank(a) - rank(b) || (a.class < b.class ? -1 : 1));
}

/** Returns the options whose name and documentation contain all words of the text, in the order of the plugin. */
export function matchingOptions<O extends Pick<ConfigKeyInfo, 'name' | 'documentation'>>(
  options: readonly O[],
  text: string,
): readonly O[] {
  return options.filter(({ name, documentation }) => hasWords(`${name} ${documentation}`, text));
}

function hasWords(where: string, text: string): boolean {
  const place = where.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => place.includes(word));
}
