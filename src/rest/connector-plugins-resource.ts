import { readConfig } from './request-body.ts';
import { answer, flag, pathName, withinTimeLimit, type Resource } from './resource.ts';

export const connectorPluginsResource: Resource = (router, { herder, validation }) => {
  router.get('/connector-plugins', (context) => {
    const connectorsOnly = flag(context, 'connectorsOnly', true);
    const plugins = validation.plugins
      .all()
      .filter(({ type }) => !connectorsOnly || type === 'sink' || type === 'source')
      .map(({ className, type, version }) => ({ class: className, type, version }));
    answer(context, 200, plugins);
  });

  router.put('/connector-plugins/:plugin/config/validate', async (context) => {
    const config = await readConfig(context.req);
    const validated = validation.validateFor(pathName(context, 'plugin'), config);
    answer(context, 200, await withinTimeLimit(herder, validated));
  });
};
