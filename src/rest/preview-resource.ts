import { StageTracker } from '../observe/stage.ts';
import { readPreview } from './preview-body.ts';
import { answerText, pathName, withinTimeLimit, type Resource } from './resource.ts';

/** `POST /connector-plugins/{plugin}/preview`, which Connect does not have: what a sink would do with some messages. */
export const previewResource: Resource = (router, { herder, preview }) => {
  router.post('/connector-plugins/:plugin/preview', async (context) => {
    const request = await readPreview(context.req);
    const stage = new StageTracker();
    const config = herder.directory.configOf(request.config['name'] ?? '');
    const stored = config && { config, kept: [] };
    const previewed = preview.preview(pathName(context, 'plugin'), { ...request, stored }, stage);
    answerText(context, 200, await withinTimeLimit(stage, previewed));
  });
};
