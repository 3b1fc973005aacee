//! The executor of this machine: a fixed number of threads, each of which carries out one job at a time.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use hypocenter_engine::{Digester, Job};
use hypocenter_plan::Role;

use super::carry::Carry;
use super::{Executor, Given, Happened};
use crate::{Host, Observer, Output};

/// See the module.
#[derive(Debug)]
pub struct Local<D: Digester> {
    queue: Sender<Job>,
    messages: Receiver<Message<D::Digest>>,
    room: usize,
    cancelled: Arc<AtomicBool>,
}

/// A word from a worker.
enum Message<D> {
    Happened(Happened<D>),
    /// It panicked; the thread that polls goes on with that.
    Panic(Box<dyn Any + Send>),
}

impl<D: Digester> Local<D> {
    /// Lends a pool of so many threads to `work`. Trials are run on the host, and the observer sees all of them. When `work` returns,
    /// whatever still runs is ended.
    pub fn with<R>(
        host: &Host,
        digester: &D,
        observer: &dyn Observer,
        threads: usize,
        work: impl FnOnce(&mut Local<D>) -> R,
    ) -> R {
        let threads = threads.max(1);
        let (queue, jobs) = mpsc::channel();
        let (words, messages) = mpsc::channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let jobs = Mutex::new(jobs);
        let stoppable = Stoppable { observer, cancelled: &cancelled };
        thread::scope(|scope| {
            for _ in 0..threads {
                let worker = Worker { host, digester, observer: &stoppable, words: words.clone() };
                let jobs = &jobs;
                scope.spawn(move || worker.run(jobs));
            }
            // Dropped with the end of this body, so that the workers end.
            let mut pool = Local { queue, messages, room: threads, cancelled: cancelled.clone() };
            work(&mut pool)
        })
    }

    fn take(&mut self, message: Message<D::Digest>) -> Happened<D::Digest> {
        match message {
            Message::Happened(event) => {
                self.room += usize::from(matches!(event, Happened::Ended { .. }));
                event
            }
            Message::Panic(payload) => resume_unwind(payload),
        }
    }
}

impl<D: Digester> Executor<D::Digest> for Local<D> {
    fn room(&self) -> usize {
        self.room
    }

    fn submit(&mut self, job: Job) {
        assert!(self.room > 0, "job {} was submitted to a pool without room", job.id);
        self.room -= 1;
        self.queue.send(job).expect("the workers live as long as the pool");
    }

    fn poll(&mut self, wait: Duration) -> Vec<Happened<D::Digest>> {
        let mut messages = Vec::from_iter(self.messages.recv_timeout(wait));
        messages.extend(self.messages.try_iter());
        messages.into_iter().map(|it| self.take(it)).collect()
    }

    fn cancel(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl<D: Digester> Drop for Local<D> {
    fn drop(&mut self) {
        self.cancel();
    }
}

struct Worker<'a, D: Digester> {
    host: &'a Host,
    digester: &'a D,
    observer: &'a Stoppable<'a>,
    words: Sender<Message<D::Digest>>,
}

impl<D: Digester> Worker<'_, D> {
    /// Works until the pool is gone.
    fn run(&self, jobs: &Mutex<Receiver<Job>>) {
        loop {
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = job else { return };
            // Without this, the campaign would wait for the job forever.
            let message = match catch_unwind(AssertUnwindSafe(|| self.carry_out(&job))) {
                Ok(event) => Message::Happened(event),
                Err(payload) => Message::Panic(payload),
            };
            if self.words.send(message).is_err() {
                return;
            }
        }
    }

    fn carry_out(&self, job: &Job) -> Happened<D::Digest> {
        let id = job.id;
        let again = |why: &str| {
            // A pool that is gone does not run it again: what runs is ended.
            let _ = self.words.send(Message::Happened(Happened::Again { id, why: why.to_owned() }));
        };
        let carry =
            Carry { host: self.host, job, digester: self.digester, observer: self.observer, again: &again };
        let result = match self.observer.is_cancelled() {
            true => Ok(Given::Interrupted { outcome: None }),
            false => carry.out(),
        };
        Happened::Ended { id, result }
    }
}

/// An observer of trials that a pool can end.
struct Stoppable<'a> {
    observer: &'a dyn Observer,
    cancelled: &'a AtomicBool,
}

impl Stoppable<'_> {
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl Observer for Stoppable<'_> {
    fn began(&self) {
        self.observer.began();
    }

    fn ended(&self) {
        self.observer.ended();
    }

    fn output(&self, process: &str, role: Role, from: Output, bytes: &[u8]) {
        self.observer.output(process, role, from, bytes);
    }

    fn event(&self, process: &str, what: &str) {
        self.observer.event(process, what);
    }

    fn planned(&self) {
        self.observer.planned();
    }

    fn gone(&self) {
        self.observer.gone();
    }

    fn interrupted(&self) -> bool {
        self.is_cancelled() || self.observer.interrupted()
    }
}
