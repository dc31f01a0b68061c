import { PassThrough } from 'node:stream';
import type { Context } from '../resource.ts';

/** Server-sent events to one browser. */
export interface EventStream {
  /** Takes events as text; whoever leaves more than `maxUnreadBytes` unread is cut off. */
  readonly write: (text: string) => void;
  readonly isClosed: () => boolean;
}

/** Answers with server-sent events until the browser goes away; `closed` is called once then. */
export function answerEvents(context: Context, maxUnreadBytes: number, closed: () => void): EventStream {
  const body = new PassThrough();
  body.once('close', closed);
  context.req.once('close', () => body.destroy());
  context.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  context.status = 200;
  body.write('retry: 2000\n\n');
  context.body = body;
  return {
    write: (text) => {
      if (body.destroyed) return;
      if (body.readableLength + body.writableLength > maxUnreadBytes) body.destroy();
      else body.write(text);
    },
    isClosed: () => body.destroyed,
  };
}

/** An event with its data as JSON. */
export function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
