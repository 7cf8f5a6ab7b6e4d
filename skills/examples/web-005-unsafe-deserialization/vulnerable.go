// Package session keeps the signed-in account in a cookie.
package session

import (
	"bytes"
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

// Read returns the session of a request.
func Read(r *http.Request) (Session, error) {
	var session Session
	cookie, err := r.Cookie("session")
	if err != nil {
		return session, errInvalid
	}
	body, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil || len(body) > 2048 {
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
func Write(w http.ResponseWriter, session Session) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(session); err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name:     "session",
		Value:    base64.RawURLEncoding.EncodeToString(body.Bytes()),
		Expires:  session.Expires,
		HttpOnly: true,
		Secure:   true,
		SameSite: http.SameSiteLaxMode,
	})
	return nil
}
