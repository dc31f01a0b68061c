import { goneSignal } from '../../rest/client-gone.ts';
import { readPreview } from './preview-body.ts';
import { answerText, pathName, withinTimeLimit, type Resource } from '../../rest/resource.ts';

/** `POST /connector-plugins/{plugin}/preview`, which Connect does not have: what a sink would do with some messages. */
export const previewResource: Resource = (router, { herder, readings }) => {
  router.post('/connector-plugins/:plugin/preview', async (context) => {
    const request = await readPreview(context.req);
    const config = herder.directory.configOf(request.config['name'] ?? '');
    const stored = config && { config, kept: [] };
    const previewed = readings.preview(pathName(context, 'plugin'), { ...request, stored }, goneSignal(context));
    answerText(context, 200, await withinTimeLimit(herder.stage, previewed));
  });
};
