import type { PreviewRequest } from '../herder/connector-preview.ts';
import { RequestError } from '../errors.ts';
import { StageTracker } from '../observe/stage.ts';
import { ajv, checkBody, readJsonText } from './request-body.ts';
import { answerText, pathName, withinTimeLimit, type Resource } from './resource.ts';

const MAX_MESSAGES = 100;

interface PreviewBody extends Omit<PreviewRequest, 'config'> {
  readonly config: Readonly<Record<string, string | number | boolean | null>>;
}

const isPreviewBody = ajv.compile<PreviewBody>({
  type: 'object',
  properties: {
    config: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } },
    messages: {
      type: 'array',
      maxItems: MAX_MESSAGES,
      items: {
        type: 'object',
        properties: {
          key: {},
          value: {},
          headers: {
            anyOf: [
              { type: 'object' },
              { type: 'array', items: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] } },
            ],
          },
          timestamp: { type: 'integer', minimum: 0 },
          partition: { type: 'integer', minimum: 0 },
        },
        additionalProperties: false,
      },
    },
    topic: { type: 'string', minLength: 1 },
    count: { type: 'integer', minimum: 1, maximum: MAX_MESSAGES },
  },
  required: ['config'],
  additionalProperties: false,
});

/** `POST /connector-plugins/{plugin}/preview`, which Connect does not have: what a sink would do with some messages. */
export const previewResource: Resource = (router, { preview }) => {
  router.post('/connector-plugins/:plugin/preview', async (context) => {
    const { config, messages, topic, count } = checkBody(isPreviewBody, (await readJsonText(context.req)).parsed);
    if (messages === undefined && topic === undefined) {
      throw new RequestError(400, 'A preview takes messages, or a topic and a count of its newest messages');
    }
    const texts = Object.entries(config).map(([key, value]) => [key, value === null ? null : String(value)] as const);
    const request = { config: Object.fromEntries(texts), messages, topic, count };
    const stage = new StageTracker();
    const previewed = preview.preview(pathName(context, 'plugin'), request, stage);
    answerText(context, 200, await withinTimeLimit(stage, previewed));
  });
};
