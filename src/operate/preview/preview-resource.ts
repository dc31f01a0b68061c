import type { Herder } from '../../herder/herder.ts';
import type { PreviewReadings } from './preview-readings.ts';
import { goneSignal } from '../../rest/client-gone.ts';
import { PREVIEW } from './preview-answers.ts';
import { PREVIEW_BODY, readPreview } from './preview-body.ts';
import { answerText, pathName, withinTimeLimit, type Route } from '../../rest/resource.ts';

/** `POST /connector-plugins/{plugin}/preview`, which Connect does not have: what a sink would do with some messages. */
export function previewResource(herder: Herder, readings: PreviewReadings): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/connector-plugins/:plugin/preview',
      summary: 'What a sink would do with some messages: records, rows, statements and faults; nothing is written',
      tag: 'plugins',
      body: PREVIEW_BODY,
      answers: { 200: PREVIEW },
      handle: async (context) => {
        const request = await readPreview(context.req);
        const config = herder.directory.configOf(request.config['name'] ?? '');
        const stored = config && { config, kept: [] };
        const previewed = readings.preview(pathName(context, 'plugin'), { ...request, stored }, goneSignal(context));
        answerText(context, 200, await withinTimeLimit(herder.stage, previewed));
      },
    },
  ];
}
