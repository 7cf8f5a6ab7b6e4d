// Package session keeps the signed-in account in a cookie.
package session

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/gob"
	"errors"
	"net/http"
	"time"
)

// Session says who is signed in.
type Session struct {
	Account string
	Role    string
	Expires time.Time
}

var errInvalid = errors.New("session is not valid")

func tag(key, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return mac.Sum(nil)
}

// Read returns the session of a request.
func Read(r *http.Request, key []byte) (Session, error) {
	var session Session
	cookie, err := r.Cookie("session")
	if err != nil {
		return session, errInvalid
	}
	body, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(body) > 2048 {
		return session, errInvalid
	}
	if len(body) < sha256.Size {
		return session, errInvalid
	}
	body, sent := body[sha256.Size:], body[:sha256.Size]
	if !hmac.Equal(sent, tag(key, body)) {
		return session, errInvalid
	}
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&session); err != nil {
		return Session{}, errInvalid
	}
	if time.Now().After(session.Expires) {
		return Session{}, errInvalid
	}
	return session, nil
}

// Write stores the session in the response.
func Write(w http.ResponseWriter, session Session, key []byte) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(session); err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name:     "session",
		Value:    base64.RawURLEncoding.EncodeToString(append(tag(key, body.Bytes()), body.Bytes()...)),
		Expires:  session.Expires,
		HttpOnly: true,
		Secure:   true,
		SameSite: http.SameSiteLaxMode,
	})
	return nil
}
