import { withPrefix, type Properties } from '../../config/worker-config.ts';
import type { PluginRegistry } from '../../connect/plugins/plugin-registry.ts';
import { wantedVersion } from '../../connect/plugins/plugins-of-config.ts';
import type { Finding } from '../../data/finding.ts';
import { silentLogger } from '../../observe/logger.ts';
import { examine } from './examination.ts';

/** Findings of the converters that `key.converter` and `value.converter` of these properties name. */
export async function converterFindings(properties: Properties, plugins: PluginRegistry): Promise<Finding[]> {
  const findings = await Promise.all(
    (['key.converter', 'value.converter'] as const).map((option) =>
      examine(option, async (signal) => {
        const name = properties[option];
        if (name === undefined) return [];
        const found = plugins.find('converter', name, wantedVersion(properties, `${option}.plugin.version`));
        const converter = await plugins.load(found);
        const context = { signal, logger: silentLogger, writesTo: () => undefined };
        return (await converter.diagnose?.(withPrefix(properties, `${option}.`), context)) ?? [];
      }),
    ),
  );
  // Keys and values often have the same registry, whose findings are listed only once.
  const distinct = new Map(findings.flat().map((finding) => [JSON.stringify(finding), finding]));
  return [...distinct.values()];
}
