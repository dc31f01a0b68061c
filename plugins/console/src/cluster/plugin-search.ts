import type { OptionView } from '../common/option-view.ts';

/** A plugin, as `GET /connector-plugins` has it. */
export interface PluginView {
  readonly class: string;
  readonly type: string;
  readonly version?: string;
}

const KINDS = ['sink', 'source', 'converter', 'header_converter', 'transformation', 'predicate'];

/** Connectors first, then by name; each word must be in the class or the kind. */
export function matchingPlugins(plugins: readonly PluginView[], text: string): readonly PluginView[] {
  const rank = ({ type }: PluginView): number => (KINDS.indexOf(type) + 1 || KINDS.length + 1) - 1;
  return plugins
    .filter((plugin) => hasWords(`${plugin.class} ${plugin.type} ${plugin.version ?? ''}`, text))
    .sort((a, b) => rank(a) - rank(b) || (a.class < b.class ? -1 : 1));
}

/** In the order of the plugin; each word must be in the name or the meaning. */
export function matchingOptions(options: readonly OptionView[], text: string): readonly OptionView[] {
  return options.filter(({ name, documentation }) => hasWords(`${name} ${documentation}`, text));
}

function hasWords(where: string, text: string): boolean {
  const place = where.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => place.includes(word));
}
