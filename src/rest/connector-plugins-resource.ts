import type { ConnectorValidation } from '../herder/validation.ts';
import { arrayOf, BOOLEAN } from '../json/open-api.ts';
import { CONFIG_INFOS, CONFIG_KEY_INFO, PLUGIN_INFO } from './answers.ts';
import { shownDefinitions } from '../config/config-values.ts';
import { sinkConnectorOptions, sourceConnectorOptions } from '../config/connector-options.ts';
import type { OptionDeclarations } from '../config/option.ts';
import { versionMismatch } from '../config/plugin-choices.ts';
import { parseVersionRange } from '../config/version-range.ts';
import type { Plugin } from '../connect/api.ts';
import type { PluginRegistry } from '../connect/plugins/plugin-registry.ts';
import { RequestError } from '../errors.ts';
import { StageTracker } from '../observe/stage.ts';
import { CONFIG_BODY, readConfig } from './request-body.ts';
import { answer, flag, pathName, queryText, withinTimeLimit, type Route } from './resource.ts';

/** Connectors for tests of clusters are not listed, as in Kafka Connect. */
const TOOLS = 'org.apache.kafka.connect.tools.';

/** `/connector-plugins`: the list of plugins, their options, and validation. */
export function connectorPluginsResource(validation: ConnectorValidation): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/connector-plugins',
      summary: 'The plugins of this worker',
      tag: 'plugins',
      query: { connectorsOnly: { description: 'only connectors (the default), or all plugins', schema: BOOLEAN } },
      answers: { 200: arrayOf(PLUGIN_INFO) },
      handle: (context) => {
        const connectorsOnly = flag(context, 'connectorsOnly', true);
        const plugins = validation.plugins
          .all()
          .filter(({ type, className }) => {
            return !className.startsWith(TOOLS) && (!connectorsOnly || type === 'sink' || type === 'source');
          })
          .map(({ className, type, version }) => ({ class: className, type, version }));
        answer(context, 200, plugins);
      },
    },
    {
      method: 'GET',
      path: '/connector-plugins/:plugin/config',
      summary: 'The options of a plugin',
      tag: 'plugins',
      query: { version: { description: 'a version, or a version range as in Maven', schema: { type: 'string' } } },
      answers: { 200: arrayOf(CONFIG_KEY_INFO) },
      handle: async (context) => {
        const plugin = findPlugin(validation.plugins, pathName(context, 'plugin'), queryText(context, 'version'));
        answer(context, 200, shownDefinitions(optionsOf(await validation.plugins.load(plugin))));
      },
    },
    {
      method: 'PUT',
      path: '/connector-plugins/:plugin/config/validate',
      summary: 'Validate the configuration of a connector; errors are in the answer',
      tag: 'plugins',
      body: CONFIG_BODY,
      answers: { 200: CONFIG_INFOS },
      handle: async (context) => {
        const config = await readConfig(context.req);
        const stage = new StageTracker();
        const validated = validation.validateFor(pathName(context, 'plugin'), config, stage);
        answer(context, 200, await withinTimeLimit(stage, validated));
      },
    },
  ];
}

function findPlugin(plugins: PluginRegistry, name: string, version: string | undefined): Plugin {
  const plugin = plugins.tryFindAny(name, version);
  if (plugin === undefined) throw new RequestError(404, `Unknown plugin ${name}.`);
  if (version === undefined || version === 'latest') return plugin;
  if (parseVersionRange(version) === undefined)
    throw new RequestError(400, `Invalid version specification: ${version}`);
  const mismatch = versionMismatch(plugins, plugin, version);
  if (mismatch !== undefined) throw new RequestError(400, mismatch);
  return plugin;
}

const VERSION_OPTION = 'connector.plugin.version';

/**
 * The options of a plugin. Those of a connector are followed by Connect's own options for all connectors, except for
 * those that the connector declares itself.
 */
function optionsOf({ type, options, version }: Plugin): OptionDeclarations {
  if (type !== 'sink' && type !== 'source') return options;
  const base = type === 'sink' ? sinkConnectorOptions : sourceConnectorOptions;
  const common: OptionDeclarations = { ...base, [VERSION_OPTION]: { ...base[VERSION_OPTION], default: version } };
  const others = Object.entries(common).filter(([name]) => !Object.hasOwn(options, name));
  return { ...options, ...Object.fromEntries(others) };
}
