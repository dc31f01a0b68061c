import { PassThrough } from 'node:stream';
import type { Context } from '../resource.ts';

/** Server-sent events to one browser. */
export interface EventStream {
  /** Sends an event. A client with more than `maxUnreadBytes` of unread events is disconnected. */
  readonly write: (event: Buffer) => void;
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
    write: (event) => {
      if (body.destroyed) return;
      if (body.readableLength + body.writableLength > maxUnreadBytes) body.destroy();
      else body.write(event);
    },
    isClosed: () => body.destroyed,
  };
}

/** An event with its data as JSON. These are bytes, as several streams that nobody reads then share them. */
export function eventBytes(event: string, data: unknown): Buffer {
  return Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
