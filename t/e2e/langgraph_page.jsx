// SPDX-License-Identifier: ISC
// The page of langgraph_browser.mjs: a chat with LangGraph's hook for React, unchanged, and all that the test clicks.
//
// Query: url is the service's address; thread is put in once there is one, so that the page finds it after a reload.
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useStream } from '@langchain/langgraph-sdk/react';

const query = new URLSearchParams(location.search);

function remember(id) {
	query.set('thread', id);
	history.replaceState(null, '', `?${query}`);
}

function Branches({ stream, branch, options }) {
	if (!branch || !options) return null;
	const at = options.indexOf(branch);
	return (
		<span className="branches">
			<button disabled={at < 1} onClick={() => stream.setBranch(options[at - 1])}>Previous branch</button>
			<i>{at + 1} of {options.length}</i>
			<button disabled={at + 1 === options.length} onClick={() => stream.setBranch(options[at + 1])}>Next branch</button>
		</span>
	);
}

function Message({ stream, message, index }) {
	const [edited, setEdited] = useState('');
	const meta = stream.getMessagesMetadata(message, index);
	const checkpoint = meta?.firstSeenState?.parent_checkpoint;
	const edit = () => stream.submit({ messages: [{ type: 'human', content: edited }] }, { checkpoint });
	return (
		<li className={message.type}>
			<b>{typeof message.content === 'string' ? message.content : JSON.stringify(message.content)}</b>
			{message.type === 'human' && <input aria-label={`Edit ${index}`} value={edited} onChange={(e) => setEdited(e.target.value)} />}
			{message.type === 'human' && <button disabled={!checkpoint} onClick={edit}>Save {index}</button>}
			{message.type === 'ai' && <button disabled={!checkpoint} onClick={() => stream.submit(undefined, { checkpoint })}>Again {index}</button>}
			<Branches stream={stream} branch={meta?.branch} options={meta?.branchOptions} />
		</li>
	);
}

function Chat() {
	const [threadId, setThreadId] = useState(query.get('thread'));
	const [text, setText] = useState('');
	const stream = useStream({
		apiUrl: query.get('url'), assistantId: 'demo', messagesKey: 'messages', threadId, reconnectOnMount: true, fetchStateHistory: true,
		onThreadId: (id) => { remember(id); setThreadId(id); },
	});
	const send = () => stream.submit({ messages: [{ type: 'human', content: text }] });
	return (
		<main>
			<ol>{stream.messages.map((message, index) => <Message key={message.id ?? index} {...{ stream, message, index }} />)}</ol>
			{stream.interrupt && (
				<form onSubmit={(event) => { event.preventDefault(); stream.submit(undefined, { command: { resume: event.target.answer.value } }); }}>
					<p className="question">{stream.interrupt.value?.question ?? JSON.stringify(stream.interrupt)}</p>
					<input name="answer" aria-label="Answer" /><button>Answer</button>
				</form>
			)}
			{stream.error !== undefined && <p role="alert">{String(stream.error?.message ?? stream.error)}</p>}
			<p id="state">{stream.isLoading ? 'running' : stream.isThreadLoading ? 'loading' : 'idle'}</p>
			<input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
			<button onClick={send}>Send</button><button onClick={() => stream.stop()}>Stop</button>
		</main>
	);
}

createRoot(document.getElementById('root')).render(<Chat />);
